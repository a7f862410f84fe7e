/** `stimuli send`, `replay`, `discard`. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given, once } from "../../frame/body.ts";
import { type Context, confirm } from "../../frame/context.ts";
import { jsonOrText, textOrFile } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";

export function addChanges(stimuli: Command): void {
  addVerb(stimuli, {
    words: "send <source> [content]",
    summary: "Send a stimulus as yourself",
    about: {
      source: "the name of the source that it counts as",
      content: "JSON or text; @FILE reads a file, @- standard input",
    },
    options: { "--key <key>": "two with the same key are one" },
    examples: [
      ["svc stimuli send orders '{\"id\":7}'", "Send an order"],
      ["svc stimuli send orders @order.json --key order-7", "From a file, once only"],
    ],
    async run(context, [source, content], { key }) {
      const service = await context.client();
      const text = content === undefined ? "{}" : await textOrFile(context.io, content);
      const body = { source, content: jsonOrText(text), ...given({ idempotency_key: key }) };
      // The document leaves the content open: JSON of any kind.
      const sent = await answer(service.POST("/v1/stimuli", { body: body as never }));
      await told(context, sent);
    },
  });
  addVerb(stimuli, {
    words: "replay <stimulus...>",
    summary: "Take stimuli in once more, by the routes of now",
    about: { stimulus: "their ids" },
    options: {
      "--workflow <name>": "start this workflow instead of the one that the routes choose",
      "--version <version>": "of that workflow",
      "--force": "also one that started a run already",
    },
    examples: [["svc stimuli replay 0190a1b2-…", "Try it again after the workflow was mended"]],
    async run(context, [ids], { workflow, version, force }) {
      const service = await context.client();
      const body = given({ workflow, workflow_version: version, force });
      for (const id of ids) {
        const params = { path: { id }, header: once() };
        await told(context, await answer(service.POST("/v1/stimuli/{id}/replay", { params, body })), true);
      }
    },
  });
  addVerb(stimuli, {
    words: "discard <stimulus...>",
    summary: "Take stimuli off the list of failures",
    about: { stimulus: "their ids" },
    options: { "--reason <text>": "why, for the record" },
    examples: [["svc stimuli discard 0190a1b2-… --reason spam --yes", "Without being asked"]],
    async run(context, [ids], { reason }) {
      await confirm(context, ids.length === 1 ? `Discard stimulus ${ids[0]}` : `Discard ${ids.length} stimuli`);
      const service = await context.client();
      for (const id of ids) {
        const body = given({ reason });
        const params = { path: { id } };
        await context.out.event(await answer(service.POST("/v1/stimuli/{id}/discard", { params, body })));
        context.out.line(say`${context.out.colours.green("✓")} Discarded ${id}`);
      }
    },
  });
}

interface Taken {
  readonly stimulus_id: string;
  readonly status: string;
  readonly workflow_execution_id?: string | null;
  readonly workflow_name?: string | null;
}

async function told({ out }: Context, taken: Taken | object, isOneOfMany = false): Promise<void> {
  await (isOneOfMany ? out.event(taken) : out.data(taken));
  if (!("stimulus_id" in taken)) return out.line(say`Ignored: no route takes it`);
  const { stimulus_id, status, workflow_execution_id, workflow_name } = taken;
  out.line(say`${out.colours.green("✓")} ${stimulus_id} ${status}`);
  if (workflow_execution_id) out.line(say`  started ${workflow_name ?? "a run"}: ${workflow_execution_id}`);
}
