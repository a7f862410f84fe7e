/** `stimuli list`, `show`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { addList } from "../../frame/list.ts";
import { instant } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { causesOf } from "../../output/failures.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const statuses = ["received", "classified", "rejected", "classification_failed", "start_failed", "discarded"] as const;

const columns: readonly Field<Schemas["StimulusElement"]>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "source", value: ({ source }) => source },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "received", value: ({ received_at }) => received_at, kind: "time" },
  { name: "size", value: ({ content_size }) => content_size, kind: "bytes" },
  { name: "run", value: ({ workflow_execution_id }) => workflow_execution_id },
  { name: "error", value: (item) => item.error_code ?? item.rejection_reason },
  { name: "channel", value: ({ channel }) => channel },
  { name: "routing", value: ({ routing_mode }) => routing_mode },
  { name: "workflow", value: ({ workflow_id }) => workflow_id },
  { name: "repeats", value: ({ duplicate_count }) => duplicate_count },
  { name: "replay-of", value: ({ replay_of }) => replay_of },
];

export function addShow(stimuli: Command): void {
  addList(stimuli, {
    words: "list",
    alias: "ls",
    summary: "List what came in, newest first",
    options: {
      "--source <name>": "from this source",
      "--status <status>": { meaning: "in this state", choices: statuses },
      "--failed": "those that started nothing and can be replayed",
      "--since <time>": "since then, as 24h or 2026-01-31",
      "--until <time>": "until then",
    },
    async page({ client, io }, query, { source, status, failed, since, until }) {
      const service = await client();
      const filters = given({
        source,
        status: oneOf(statuses, status),
        from: instant("--since", since, io.now()),
        to: instant("--until", until, io.now()),
      });
      const params = { query: { ...query, ...filters } };
      if (failed === true) return answer(service.GET("/v1/stimuli/dead-letters", { params }));
      return answer(service.GET("/v1/stimuli", { params }));
    },
    columns,
    usual: 7,
    empty: "Nothing came in. `svc stimuli send SOURCE` sends something.",
    live: "stimulus",
    examples: [
      ["svc stimuli list --failed", "What started nothing"],
      ["svc stimuli list --source github --watch", "Watch deliveries of one source"],
    ],
  });
  addVerb(stimuli, {
    words: "show <stimulus>",
    summary: "Show one with its content",
    about: { stimulus: "its id" },
    options: { "--content": "print the content alone" },
    examples: [["svc stimuli show 0190a1b2-… --content", "What was sent"]],
    async run({ out, client }, [id], { content }) {
      const service = await client();
      const found = await answer(service.GET("/v1/stimuli/{id}", { params: { path: { id } } }));
      if (content === true && out.format === "text") return out.content(`${found.content}\n`);
      await out.data(found);
      out.record(columns, found);
      if (found.error_message !== null) out.line(say`${out.colours.red(found.error_message)}`);
      for (const cause of causesOf(found.error_details ?? {})) out.line(say`  ${out.colours.red(cause)}`);
      out.line(say``);
      out.line(lines(found.content));
    },
  });
}
