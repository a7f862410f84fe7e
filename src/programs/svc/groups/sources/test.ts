/** `sources test`. */
import type { Command } from "commander";
import { textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { usageFailure } from "../../process/exit.ts";
import { variable } from "../../process/io.ts";
import { aboutSource, findSource } from "./find.ts";
import { sampleBody, signedHeaders } from "./sample.ts";

export function addTest(sources: Command): void {
  addVerb(sources, {
    words: "test <source>",
    summary: "Send a signed sample, as the sender would",
    about: aboutSource,
    more: "The service tells no secret: it is the one that `create` or `rotate-secret` printed, or that the sender has. It signs the sample here and is not sent. SVC_WEBHOOK_SECRET takes it as well. What the sample starts, it starts in earnest.",
    options: {
      "--secret <secret>": "@FILE reads a file, @- standard input",
      "--body <text>": "instead of the sample; @FILE reads a file",
      "--event <name>": "the event that the header names, of github (default push)",
      "--key <key>": "the idempotency key: a second delivery with it starts nothing",
    },
    examples: [
      ["svc sources test github --secret @secret.txt", "See whether a delivery starts what it should"],
      ["svc sources test github --secret @secret.txt --key a-1", "Typed twice: see that a repeat starts nothing"],
    ],
    async run({ out, client, io }, [word], options) {
      const given = options.secret ?? variable(io, "SVC_WEBHOOK_SECRET");
      if (given === null)
        throw usageFailure(
          "The sample is signed with the source's secret: give --secret",
          `\`svc sources rotate-secret ${word}\` makes another one.`,
        );
      const service = await client();
      const source = await findSource(service, word);
      const { preset } = source.signature;
      const body = options.body === undefined ? sampleBody(preset) : await textOrFile(io, options.body);
      const secret = (await textOrFile(io, given)).trim();
      const { event = "push", key } = options;
      const headers = signedHeaders({ preset, secret, body, event, key }, io.now());
      const path = `/v1/webhooks/${encodeURIComponent(source.source)}/${encodeURIComponent(source.id)}`;
      const response = await service.send(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body,
      });
      const said: unknown = await response.json();
      await out.data(said);
      out.line(say`${out.colours.green("✓")} ${source.source} took it: ${response.status}`);
      out.line(say`  ${JSON.stringify(said)}`);
    },
  });
}
