/** `tools calls list`, `show`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { instant } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";

const columns: readonly Field<Omit<Schemas["ToolInvocation"], "result">>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "tool", value: ({ tool_name }) => tool_name },
  { name: "outcome", value: ({ outcome }) => outcome, kind: "status" },
  { name: "decision", value: ({ decision }) => decision },
  { name: "entry", value: ({ entry }) => entry },
  { name: "started", value: ({ started_at }) => started_at, kind: "time" },
  { name: "took", value: ({ duration_ms }) => duration_ms, kind: "duration" },
  { name: "code", value: ({ code }) => code },
  { name: "execution", value: ({ execution_id }) => execution_id },
  { name: "session", value: ({ session_id }) => session_id },
  { name: "context", value: ({ security_context }) => security_context },
  { name: "approval", value: ({ approval_id }) => approval_id },
];

export function addCalls(calls: Command): void {
  addList(calls, {
    words: "list",
    alias: "ls",
    summary: "List calls of tools, newest first",
    options: {
      "--execution <id>": "of this execution",
      "--tool <name>": "of this tool",
      "--since <time>": "since then, as 24h or 2026-01-31",
    },
    async page({ client, io }, query, { execution, tool, since }) {
      const filters = given({ execution_id: execution, tool_name: tool, since: instant("--since", since, io.now()) });
      return answer((await client()).GET("/v1/tool-invocations", { params: { query: { ...query, ...filters } } }));
    },
    columns,
    usual: 8,
    empty: "No tool was called.",
    examples: [["svc tools calls list --tool cmd.run --since 1h", "Which commands ran"]],
  });
  addVerb(calls, {
    words: "show <call>",
    summary: "Show a call with its arguments and its result",
    about: { call: "its id" },
    examples: [["svc tools calls show 0190a1b2-…", "What was asked and answered"]],
    async run({ out, client }, [id]) {
      const call = await answer((await client()).GET("/v1/tool-invocations/{id}", { params: { path: { id } } }));
      await out.data(call);
      out.record(columns, call);
      out.line(say`${out.colours.dim("arguments")}`);
      out.line(lines(JSON.stringify(call.arguments ?? null, null, 2)));
      out.line(say`${out.colours.dim("result")}`);
      out.line(lines(JSON.stringify(call.result ?? null, null, 2)));
    },
  });
}
