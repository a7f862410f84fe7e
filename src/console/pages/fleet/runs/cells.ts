/** What the stream of a run tells of each host, put together; hosts lie in parts, so that a change redraws few of them. A part lies in one section (`waves.ts`). */
import type { StreamedEvent } from "../../../../programs/client/events.ts";

export interface Cell {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly attempt: number;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly message: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly structured: unknown;
  /** Bytes of output that were lost on the way. */
  readonly missed: number;
}

export interface Part {
  /** Number of the section that its hosts belong to. */
  readonly section: number;
  readonly cells: readonly Cell[];
}

export interface RunView {
  readonly parts: readonly Part[];
  readonly counts: Readonly<Record<string, number>>;
  readonly status: string | null;
  readonly reason: string | null;
  readonly pauseReasons: readonly string[];
  readonly approvalId: string | null;
  readonly wave: number | null;
  readonly waves: number | null;
  readonly errors: readonly string[];
  readonly ended: boolean;
}

export const noView: RunView = {
  parts: [],
  counts: {},
  status: null,
  reason: null,
  pauseReasons: [],
  approvalId: null,
  wave: null,
  waves: null,
  errors: [],
  ended: false,
};

/** Hosts in one part. */
const partSize = 100;
/** Of the output of a host, so much of its end is kept, characters. */
const keptOutput = 16_384;

const endedStatuses: ReadonlySet<string> = new Set([
  "ok",
  "err",
  "timed_out",
  "cancelled",
  "refused",
  "lost",
  "expired",
  "not_started",
]);
export const isEnded = (status: string): boolean => endedStatuses.has(status);
export const failedStatuses = ["err", "timed_out", "refused", "lost", "expired"] as const;
interface Told {
  readonly node_id: string;
  readonly name: string;
}

/** A view that events are put into; `take` gives what is shown, with the parts that did not change as they were. */
export function createView() {
  const at = new Map<string, number>();
  const cells: Cell[] = [];
  const touched = new Set<string>();
  const parts = new Map<string, Part>();
  /** At which hosts sections begin. */
  let starts: readonly number[] = [0];
  let head: Omit<RunView, "parts" | "counts"> = noView;

  const put = (id: string, change: Partial<Cell>) => {
    const index = at.get(id);
    const known = index === undefined ? undefined : cells[index];
    const cell: Cell = { ...fresh(id), ...known, ...change };
    const place = index ?? cells.length;
    at.set(id, place);
    cells[place] = cell;
    touched.add(keyOf(place));
  };

  const sectionOf = (place: number): number =>
    Math.max(
      0,
      starts.findLastIndex((start) => start <= place),
    );
  const keyOf = (place: number): string => {
    const section = sectionOf(place);
    return `${section} ${Math.floor((place - (starts[section] ?? 0)) / partSize)}`;
  };

  const began = ({
    resolved,
    queued,
    status,
  }: {
    resolved: readonly Told[];
    queued: readonly Told[];
    status: string;
  }) => {
    for (const { node_id: id, name } of resolved) put(id, { name });
    for (const { node_id: id, name } of queued) put(id, { name, status: "queued" });
    head = { ...head, status };
  };

  const progressed = ({ node_id: id, chunk, gap_bytes: gap = 0 }: Progress) => {
    const known = cells[at.get(id) ?? -1];
    if (known !== undefined && isEnded(known.status) && "status" in chunk && chunk.status !== "dispatched") return;
    if ("status" in chunk) return put(id, { status: chunk.status });
    const missed = (known?.missed ?? 0) + gap;
    if ("stdout" in chunk)
      return put(id, { missed, stdout: `${known?.stdout ?? ""}${chunk.stdout}`.slice(-keptOutput) });
    return put(id, { missed, stderr: `${known?.stderr ?? ""}${chunk.stderr}`.slice(-keptOutput) });
  };

  const resulted = (told: Result) => {
    const { node_id: id, name, status, attempt, result, stdout_tail: out, stderr_tail: err, structured } = told;
    const known = cells[at.get(id) ?? -1];
    put(id, {
      name,
      status,
      attempt,
      structured,
      ...outcomeOf(result),
      // What came while it ran is longer than the tail, unless some of it was lost.
      stdout: (known?.stdout.length ?? 0) > out.length && known?.missed === 0 ? known.stdout : out,
      stderr: (known?.stderr.length ?? 0) > err.length && known?.missed === 0 ? known.stderr : err,
    });
  };

  return {
    /** @param begins at which hosts sections begin, the first at 0 */
    divide(begins: readonly number[]): void {
      starts = begins;
      parts.clear();
      touched.clear();
      for (let place = 0; place < cells.length; place++) touched.add(keyOf(place));
    },
    hear({ event, data }: StreamedEvent): void {
      // The name of an event says which shape it has.
      switch (event) {
        case "fleet_started":
          began(data as Parameters<typeof began>[0]);
          return;
        case "fleet_status": {
          const told = data as Standing;
          head = {
            ...head,
            status: told.status,
            reason: told.reason,
            pauseReasons: told.pause_reasons,
            approvalId: told.approval_id,
            wave: told.wave,
            waves: told.waves,
          };
          return;
        }
        case "command_progress":
          progressed(data as Progress);
          return;
        case "command_result":
          resulted(data as Result);
          return;
        case "error":
          head = { ...head, errors: [...head.errors, (data as { message: string }).message] };
          return;
        case "fleet_result": {
          const { status, reason } = data as { status: string; reason: string | null };
          head = { ...head, status, reason, pauseReasons: [], ended: true };
          for (const { id, status: one } of cells) if (!isEnded(one)) put(id, { status: "not_started" });
        }
      }
    },
    take(): RunView {
      for (const key of touched) {
        const [section = 0, nth = 0] = key.split(" ").map(Number);
        const from = (starts[section] ?? 0) + nth * partSize;
        const to = Math.min(from + partSize, starts[section + 1] ?? cells.length);
        parts.set(key, { section, cells: cells.slice(from, to) });
      }
      touched.clear();
      const counts: Record<string, number> = {};
      for (const { status } of cells) counts[status] = (counts[status] ?? 0) + 1;
      return { ...head, parts: [...parts.values()], counts };
    },
    cell: (id: string): Cell | null => cells[at.get(id) ?? -1] ?? null,
  };
}

interface Standing {
  readonly status: string;
  readonly reason: string | null;
  readonly pause_reasons: readonly string[];
  readonly approval_id: string | null;
  readonly wave: number;
  readonly waves: number;
}
interface Progress {
  readonly node_id: string;
  readonly chunk: { readonly status: string } | { readonly stdout: string } | { readonly stderr: string };
  readonly gap_bytes?: number;
}
interface Result extends Told {
  readonly status: string;
  readonly attempt: number;
  readonly result: Outcome;
  readonly stdout_tail: string;
  readonly stderr_tail: string;
  readonly structured: unknown;
}
type Outcome =
  | { readonly ok: { readonly exit_code: number | null; readonly duration_ms: number | null } }
  | { readonly err: { readonly code: string; readonly message: string; readonly exit_code: number | null } }
  | { readonly timed_out: object }
  | { readonly cancelled: { readonly reason: string } };

function outcomeOf(result: Outcome): Pick<Cell, "exitCode" | "durationMs" | "message"> {
  if ("ok" in result) return { exitCode: result.ok.exit_code, durationMs: result.ok.duration_ms, message: null };
  if ("err" in result)
    return { exitCode: result.err.exit_code, durationMs: null, message: `${result.err.message} (${result.err.code})` };
  if ("timed_out" in result) return { exitCode: null, durationMs: null, message: "It took longer than it may." };
  return { exitCode: null, durationMs: null, message: `It was cancelled (${result.cancelled.reason}).` };
}

const fresh = (id: string): Cell => ({
  id,
  name: id,
  status: "pending",
  attempt: 1,
  exitCode: null,
  durationMs: null,
  message: null,
  stdout: "",
  stderr: "",
  structured: null,
  missed: 0,
});
