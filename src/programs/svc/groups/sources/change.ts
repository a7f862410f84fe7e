/** `sources create`, `rotate-secret`, `delete`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { confirm } from "../../frame/context.ts";
import { seconds, textOrFile, whole } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { aboutSource, findSource } from "./find.ts";

const presets = ["svc", "github", "stripe", "slack", "standard_webhooks"] as const;

export function addChanges(sources: Command): void {
  addVerb(sources, {
    words: "create <name>",
    summary: "Let a sender start a workflow by signed webhooks",
    about: { name: "what the sender is called, as it stands in the address" },
    more: "The secret is printed once and never again.",
    options: {
      "--workflow <name>": "what is started; without it the router decides",
      "--version <version>": "of the workflow",
      "--signature <preset>": { meaning: "how the sender signs (default svc)", choices: presets },
      "--secret <secret>": "the sender's own secret, @FILE reads a file; without it one is made",
      "--event <name...>": "only these events",
      "--match <expression>": "only where this holds",
      "--rate <n>": "at most so many a minute",
      "--description <text>": "for people",
    },
    examples: [
      ["svc sources create github --signature github --workflow on-push", "A repository starts on-push"],
      ["svc sources create shop --workflow order --secret @secret.txt", "With the shop's own secret"],
    ],
    async run({ out, client, io }, [source], options) {
      const service = await client();
      const { workflow, version, match, description, event } = options;
      const secret = options.secret === undefined ? undefined : (await textOrFile(io, options.secret)).trim();
      const body = {
        source,
        generate_secret: secret === undefined,
        ...given({
          ...{ workflow, match, description, secret, workflow_version: version },
          signature: oneOf(presets, options.signature),
          events: event === undefined ? undefined : [...event],
          rate_limit_per_minute: whole("--rate", options.rate, 1, 1_000_000),
        }),
      };
      const made = await answer(service.POST("/v1/stimulus-routes", { body }));
      await out.data(made);
      const { green, bold } = out.colours;
      out.line(say`${green("✓")} Created ${bold(made.source)} ${made.id}`);
      out.line(say`  url:    ${made.url}`);
      if (made.secret !== undefined) out.line(say`  secret: ${made.secret}`);
      out.note(say`Try it with: svc sources test ${made.source} --secret …`);
    },
  });
  addVerb(sources, {
    words: "rotate-secret <source>",
    summary: "Replace the secret that the sender signs with",
    about: aboutSource,
    more: "The new one is printed once and never again.",
    options: {
      "--secret <secret>": "this one, @FILE reads a file; without it one is made",
      "--keep <time>": "how long the former one is good as well, as 1h",
    },
    examples: [["svc sources rotate-secret github --keep 1h", "Give the sender an hour to change"]],
    async run({ out, client, io }, [word], options) {
      const service = await client();
      const { id, source } = await findSource(service, word);
      const secret = options.secret === undefined ? undefined : (await textOrFile(io, options.secret)).trim();
      const body = given({ secret, previous_valid_seconds: seconds("--keep", options.keep) });
      const params = { path: { id } };
      const rotated = await answer(service.POST("/v1/stimulus-routes/{id}/rotate-secret", { params, body }));
      await out.data(rotated);
      out.line(say`${out.colours.green("✓")} ${source} has a new secret`);
      if (rotated.secret !== undefined) out.line(say`  secret: ${rotated.secret}`);
      if (rotated.previous_secret_expires_at !== null)
        out.note(say`The former one is good until ${rotated.previous_secret_expires_at}.`);
    },
  });
  addVerb(sources, {
    words: "delete <source>",
    alias: "rm",
    summary: "Take no more webhooks from a sender",
    about: aboutSource,
    more: "What it sent stays.",
    examples: [["svc sources delete github --yes", "Without being asked"]],
    async run(context, [word]) {
      const service = await context.client();
      const { id, source } = await findSource(service, word);
      await confirm(context, `Delete source ${source} (${id})`);
      const deleted = await answer(service.DELETE("/v1/stimulus-routes/{id}", { params: { path: { id } } }));
      await context.out.data(deleted);
      context.out.line(say`${context.out.colours.green("✓")} Deleted ${source}`);
    },
  });
}
