/** What a person sees of a run while it is under way: its changes, each host's output under its name, the results. */
import type { Output } from "../command/output.ts";
import { plain } from "../command/output.ts";
import type { StreamedEvent } from "../service/event-stream.ts";
import { type Summary, summaryLine } from "./result.ts";

/** Of a host's output without an end of line. */
const maxLine = 8192;

interface Named {
  readonly node_id: string;
  readonly name: string;
  readonly reason?: string;
}

/** @returns what is told each event; programs get each as one line of JSON */
export function createLive(output: Output): (event: StreamedEvent) => void {
  const names = new Map<string, string>();
  const lines = new Map<string, string>();
  /** Hosts whose output came as it was written, so that the end of it needs no telling. */
  const streamed = new Set<string>();
  const nameOf = (id: unknown): string => onOneLine(names.get(String(id)) ?? String(id));

  function progress(data: StreamedEvent["data"]): void {
    const id = String(data.node_id);
    const chunk = membersOf(data.chunk);
    if (chunk.gap_bytes !== undefined) output.line(`${nameOf(id)} | … ${String(chunk.gap_bytes)} bytes are left out`);
    for (const stream of ["stdout", "stderr"] as const) {
      const text = chunk[stream];
      if (typeof text !== "string") continue;
      const key = `${id} ${stream}`;
      streamed.add(`${id} ${String(data.command_id)} ${stream}`);
      const parts = ((lines.get(key) ?? "") + text).split("\n");
      const open = parts.pop() ?? "";
      for (const line of parts) said(id, stream, line);
      if (open.length > maxLine) said(id, stream, open);
      lines.set(key, open.length > maxLine ? "" : open);
    }
  }

  function said(id: string, stream: "stdout" | "stderr", line: string): void {
    output.text(`${nameOf(id)} | ${line}\n`, stream);
  }

  function result(data: StreamedEvent["data"]): void {
    const id = String(data.node_id);
    if (typeof data.name === "string") names.set(id, data.name);
    for (const stream of ["stdout", "stderr"] as const) {
      const open = lines.get(`${id} ${stream}`) ?? "";
      if (open !== "") said(id, stream, open);
      lines.delete(`${id} ${stream}`);
      const tail = data[`${stream}_tail`];
      const isTold = streamed.delete(`${id} ${String(data.command_id)} ${stream}`);
      if (!isTold && typeof tail === "string" && tail !== "")
        for (const line of tail.replace(/\n$/, "").split("\n")) said(id, stream, line);
    }
    // What a command wrote was told as its output.
    const isCommand = "stdout" in membersOf(data.structured);
    const isQuiet = isCommand || data.structured === null || data.structured === undefined || data.status !== "ok";
    const more = isQuiet ? "" : ` ${JSON.stringify(data.structured)}`;
    output.line(onOneLine(`${nameOf(id)}: ${String(data.status)}${reasonOf(data.result)}${more}`));
  }

  const tellers: Readonly<Record<string, (data: StreamedEvent["data"]) => void>> = {
    fleet_started(data) {
      const lists = [data.resolved, data.queued, data.skipped].map(namedOf);
      for (const { node_id, name } of lists.flat()) names.set(node_id, name);
      const [resolved = [], queued = [], skipped = []] = lists;
      const away = queued.length === 0 ? "" : `, ${queued.length} of them waited for`;
      output.line(
        `run ${String(data.fleet_command_id)}: ${String(data.tool)} on ${count(data, resolved.length)}${away}`,
      );
      for (const { name, reason } of skipped) output.line(`${onOneLine(name)}: skipped, ${reason ?? ""}`);
    },
    fleet_status(data) {
      const reasons = Array.isArray(data.pause_reasons) ? data.pause_reasons.join(", ") : "";
      const wave = typeof data.waves === "number" && data.waves > 1 ? `, wave ${data.wave} of ${data.waves}` : "";
      const approval = data.status === "awaiting_approval" && data.approval_id ? `, approval ${data.approval_id}` : "";
      const reason = reasons || (data.reason ?? "");
      output.line(`run is ${String(data.status)}${reason === "" ? "" : ` (${reason})`}${wave}${approval}`);
    },
    command_progress: progress,
    command_result: result,
    error: (data) => output.line(`${String(data.reason)}: ${String(data.message ?? data.code ?? "")}`),
    fleet_result(data) {
      const reason = typeof data.reason === "string" ? ` (${data.reason})` : "";
      output.line(`run is ${String(data.status)}${reason}: ${summaryLine(data.summary as Summary)}`);
    },
  };
  return (event) => {
    output.json({ id: event.id, event: event.name, data: event.data });
    // What a newer service tells beside this is for programs.
    if (!output.isJson && Object.hasOwn(tellers, event.name)) tellers[event.name]?.(event.data);
  };
}

/** Names and reasons are words of hosts and other users: no line of theirs is to pass for one of the run's. */
const onOneLine = (text: string): string => plain(text).replaceAll(/\s+/g, " ");

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const namedOf = (list: unknown): readonly Named[] =>
  (Array.isArray(list) ? list : []).filter((one): one is Named => typeof membersOf(one).node_id === "string");

function count({ targets_resolved: resolved }: StreamedEvent["data"], listed: number): string {
  const hosts = typeof resolved === "number" ? resolved : listed;
  return hosts === 1 ? "1 host" : `${hosts} hosts`;
}

/** How a command ended, in brackets. */
function reasonOf(result: unknown): string {
  const { ok, err, timed_out, cancelled } = membersOf(result);
  const {
    exit_code: exit,
    code,
    message,
    duration_ms,
    deadline,
    reason,
  } = membersOf(ok ?? err ?? timed_out ?? cancelled);
  const parts = [
    typeof exit === "number" && exit !== 0 ? `exit ${exit}` : null,
    typeof duration_ms === "number" ? `${duration_ms} ms` : null,
    code ?? null,
    message ?? null,
    deadline === undefined ? null : `after ${String(deadline)}`,
    reason ?? null,
  ].filter((part) => part !== null && part !== "");
  return parts.length === 0 ? "" : ` (${[...new Set(parts)].join(", ")})`;
}
