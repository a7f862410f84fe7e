/** `fleet runs`: the newest runs, or one with its hosts; followed to its end with --follow. */
import { usageFailure } from "../command/exit.ts";
import type { Output } from "../command/output.ts";
import { uuidOf, whole } from "../command/values.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import type { Service } from "../service/client.ts";
import { connect } from "../service/connect.ts";
import { type Summary, summaryLine } from "./result.ts";
import { watchRun } from "./watch.ts";

interface Run {
  readonly fleet_command_id: string;
  readonly tool: string;
  readonly status: string;
  readonly reason: string | null;
  readonly created_at: string;
  readonly summary: Summary;
  readonly requested_by: { readonly sub: string };
  readonly approval_id: string | null;
  readonly retry_of: string | null;
}

interface OnHost {
  readonly node_id: string;
  readonly name: string;
  readonly status: string;
  readonly attempt: number;
  readonly exit_code: number | null;
  readonly error_kind: string | null;
  readonly error_message: string | null;
  readonly duration_ms: number | null;
}

/** @throws Failure `usage` */
export function runIdOf([text = ""]: readonly string[]): string {
  const id = uuidOf(text);
  if (id === null) throw usageFailure(`${text} is not the id of a run; fleet runs tells them`);
  return id;
}

export const verb = defineVerb({
  usage: "[<run> [--follow]]",
  flags: {
    ...serviceFlags,
    follow: { kind: "switch", meaning: "tells all events of the run to its end" },
    tool: { kind: "text", value: "TOOL", meaning: "only runs of this tool" },
    outcome: { kind: "text", value: "OUTCOME", meaning: "running, complete, halted or cancelled" },
    status: { kind: "text", value: "STATUS", meaning: "only runs in this state" },
    "node-status": { kind: "text", value: "STATUS", meaning: "of one run: only hosts in this state" },
    limit: { kind: "text", value: "N", meaning: "how many (default 20 runs, all hosts of one)" },
  },
  positions: [0, 1],
  async run(invocation) {
    const { flags, output, environment, positions } = invocation;
    const service = connect(invocation);
    const limit = whole("limit", flags.limit, 1, 10_000);
    if (positions.length === 0) {
      if (flags.follow) throw usageFailure("--follow needs the id of a run");
      await list(service, output, limit ?? 20, { tool: flags.tool, outcome: flags.outcome, status: flags.status });
      return "ok";
    }
    const runId = runIdOf(positions);
    if (flags.follow) return watchRun({ service, environment, output, runId });
    await one(service, output, runId, limit ?? 10_000, flags["node-status"]);
    return "ok";
  },
});

async function list(service: Service, output: Output, most: number, filters: Readonly<Record<string, string | null>>) {
  const query = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const runs = await service.list<Run>("/v1/edge/fleet/runs", query, most);
  output.json({ items: runs });
  output.table(
    ["ID", "TOOL", "STATUS", "REASON", "BEGUN", "BY", "HOSTS"],
    runs.map((run) => [
      ...[run.fleet_command_id, run.tool, run.status, run.reason, run.created_at],
      ...[run.requested_by.sub, summaryLine(run.summary)],
    ]),
  );
}

interface Detail extends Run {
  readonly per_node: readonly OnHost[];
  readonly next_cursor?: string | null;
}

/** Its hosts come in pages of the run itself. */
async function one(service: Service, output: Output, id: string, most: number, nodeStatus: string | null) {
  const page = (cursor: string | null) => {
    const query = new URLSearchParams({ limit: String(Math.min(500, most)) });
    if (cursor !== null) query.set("cursor", cursor);
    if (nodeStatus !== null) query.set("node_status", nodeStatus);
    return service.call<Detail>("GET", `/v1/edge/fleet/runs/${id}?${query}`);
  };
  let run = await page(null);
  const hosts = [...run.per_node];
  while (run.next_cursor && hosts.length < most) {
    run = await page(run.next_cursor);
    hosts.push(...run.per_node);
  }
  output.json({ ...run, per_node: hosts.slice(0, most), next_cursor: null });
  const beside = [
    run.reason === null ? null : `reason ${run.reason}`,
    run.approval_id === null ? null : `approval ${run.approval_id}`,
    run.retry_of === null ? null : `retries ${run.retry_of}`,
  ].filter((part) => part !== null);
  output.line(`run ${id}: ${run.tool} is ${run.status}${beside.length === 0 ? "" : ` (${beside.join(", ")})`}`);
  output.line(summaryLine(run.summary));
  output.table(
    ["NAME", "ID", "STATUS", "TRY", "EXIT", "MS", "ERROR"],
    hosts
      .slice(0, most)
      .map((host) => [
        ...[host.name, host.node_id, host.status, host.attempt, host.exit_code, host.duration_ms],
        [host.error_kind, host.error_message].filter((part) => part !== null).join(": ") || null,
      ]),
  );
}
