/** `approvals list`, `show`. */
import type { Command } from "commander";
import { answer, type Client, type Schemas } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { oneOf } from "../../frame/choice.ts";
import { addList } from "../../frame/list.ts";
import { instant, seconds } from "../../frame/values.ts";
import { addVerb } from "../../frame/verb.ts";
import { lines, say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { aboutApproval, approvalId } from "./find.ts";

const decided = ["approved", "rejected", "responded", "timed_out", "withdrawn"] as const;

type Listed = Schemas["PendingApproval"] & Partial<Schemas["ApprovalRecord"]>;

const columns: readonly Field<Listed>[] = [
  { name: "id", value: ({ id }) => id },
  { name: "kind", value: ({ kind }) => kind },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "asks", value: ({ prompt }) => prompt },
  { name: "expires", value: ({ expires_at }) => expires_at, kind: "time" },
  { name: "from", value: (item) => item.workflow_name ?? item.tool_call?.tool ?? item.execution_id },
  { name: "state", value: ({ state_name }) => state_name },
  { name: "votes", value: ({ approvals, quorum }) => `${approvals}/${quorum}` },
  { name: "approvers", value: ({ approvers }) => approvers },
  { name: "created", value: ({ created_at }) => created_at, kind: "time" },
  { name: "decided", value: ({ decided_at }) => decided_at, kind: "time" },
];

export function addShow(approvals: Command): void {
  addList(approvals, {
    words: "list",
    alias: "ls",
    summary: "List what waits for a decision of yours",
    more: "With --decided, or the --status of a decision, it lists what was decided instead.",
    options: {
      "--decided": "those that were decided",
      "--status <status>": { meaning: "decided in this way", choices: decided },
      "--execution <id>": "of this execution or run",
      "--workflow <name>": "of runs of this workflow",
      "--since <time>": "with --decided: asked since then, as 24h or 2026-01-31",
      "--wait <time>": "so long for the first one, where none waits yet, as 1m",
    },
    async page({ client, io }, query, { decided: isDecided, status, execution, workflow, since, wait }) {
      const service = await client();
      const filters = { ...query, ...given({ execution_id: execution, workflow_name: workflow }) };
      if (isDecided !== true && status === undefined && since === undefined)
        return waiting(service, filters, io.now, io.now() + 1_000 * (seconds("--wait", wait) ?? 0));
      const more = given({ status: oneOf(decided, status), from: instant("--since", since, io.now()) });
      return answer(service.GET("/v1/human-approvals/history", { params: { query: { ...filters, ...more } } }));
    },
    columns,
    usual: 6,
    empty: "Nothing waits for you.",
    live: "approval",
    examples: [
      ["svc approvals list --watch", "Keep an eye on what waits"],
      ["svc approvals list --wait 10m && svc approvals approve last", "Approve what comes next"],
      ["svc approvals list --decided --since 24h", "What was decided today"],
    ],
  });
  addVerb(approvals, {
    words: "show <approval>",
    summary: "Show what an approval asks, and how it was decided",
    about: aboutApproval,
    options: { "--arguments": "print the arguments of the tool call alone, whole" },
    examples: [["svc approvals show 0190a1b2-…", "Read it before you decide"]],
    async run({ out, client }, [word], { arguments: wantsArguments }) {
      const service = await client();
      const path = { id: await approvalId(service, word) };
      if (wantsArguments === true) {
        const asked = await answer(service.GET("/v1/human-approvals/{id}/arguments", { params: { path } }));
        await out.data(asked);
        out.line(lines(JSON.stringify(asked.arguments, null, 2)));
        return;
      }
      const record = await answer(service.GET("/v1/human-approvals/{id}/history", { params: { path } }));
      await out.data(record);
      out.record<Schemas["ApprovalRecord"]>(
        [
          ...columns.filter(({ name }) => name !== "asks"),
          { name: "decision", value: ({ decision }) => decision },
          { name: "by", value: ({ decided_by }) => decided_by?.email ?? decided_by?.sub },
          { name: "feedback", value: ({ feedback, response }) => feedback ?? response },
        ],
        record,
      );
      out.line(say``);
      out.line(lines(record.prompt));
      if (record.tool_call) out.line(lines(JSON.stringify(record.tool_call.arguments, null, 2), "  "));
    },
  });
}

/** What waits for a decision, as soon as something does; at the latest by then. @param until Unix milliseconds */
async function waiting(service: Client, query: Record<string, unknown>, now: () => number, until: number) {
  for (;;) {
    const page = await answer(service.GET("/v1/human-approvals", { params: { query } }));
    if (page.items.length > 0 || now() >= until) return page;
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

const lookAgainMs = 700;
