/** What daemons say over their links, on its way into the record, and the acknowledgements that answer it. */
import { readBase64 } from "../../../../../actors/edge/base64.ts";
import { readBody } from "../../../../../actors/edge/frame-text.ts";
import {
  Capabilities,
  closes,
  frameLimits,
  Heartbeat,
  Progress,
  Result,
  Started,
} from "../../../../../actors/edge/frames.ts";
import type { Report, ReportReply } from "../../../../../actors/edge-host/messages.ts";
import { MessageRejected } from "../../../../runtime/port.ts";
import type { RunProgress } from "../../run-stream/port.ts";
import type { Link } from "../link.ts";
import type { LinkMetrics } from "../metrics.ts";
import { type CommandOutlet, createOutlets } from "./outlets.ts";

export interface UplinkOptions {
  readonly metrics: LinkMetrics;
  /** Unix ms, the database's. */
  readonly now: () => number;
  readonly progress: RunProgress;
  /** Has the host's actor take what its daemon reported, and resolves once that is committed. */
  report(link: Link, reports: readonly Report[]): Promise<ReportReply>;
  /** What a heartbeat says is news, or what was to be told before was not. */
  changed(link: Link): void;
  /** A heartbeat has come. */
  beat(link: Link): void;
  /** A host has refused a command by its local policy. */
  policyRefused(link: Link, commandId: string, kind: string): void;
  /** What a daemon said can never be taken; it is a dead letter by now. */
  rejected(link: Link): void;
}

interface Waiting {
  readonly s: number;
  /** Null: a frame of a later version, which counts and says nothing to this one. */
  readonly report: Report | null;
  readonly bytes: number;
}

/** What one link has under way here. */
interface State {
  /** Runs of the commands that are with the daemon. */
  readonly runs: Map<string, CommandOutlet>;
  waiting: Waiting[];
  bytes: number;
  isReporting: boolean;
  committed: number;
  acked: number;
  /** Bytes of output to be given back. */
  credit: number;
  /** Of an outdated daemon: commands that it has to deliver before it is sent away. */
  owed: Set<string> | null;
}

/** Of one message to the actor. */
const atOnce = { reports: 64, bytes: 256 * 1024 };
/** Beyond it a daemon reports faster than can be stored. */
const maxWaiting = { reports: 1024, bytes: 8 * 1024 * 1024 };
const ackAfterMs = 50;
const retryMs = 500;
const unfit = "its body does not fit";
const policyKinds = new Set(["policy_violation", "path_not_allowed", "security_context_not_found"]);

export function createUplink(options: UplinkOptions) {
  const { metrics, now, progress } = options;
  const states = new Map<Link, State>();
  const outlets = createOutlets();
  let owing: Set<Link> | null = null;

  /** Within 250 ms, one for all that was committed meanwhile. */
  function ackSoon(link: Link): void {
    if (owing === null) {
      owing = new Set();
      setTimeout(() => {
        const due = owing ?? [];
        owing = null;
        for (const one of due) ack(one);
      }, ackAfterMs);
    }
    owing.add(link);
  }

  function ack(link: Link): void {
    const state = states.get(link);
    if (state === undefined || !link.isOpen) return;
    owing?.delete(link);
    const { credit } = state;
    state.credit = 0;
    state.acked = state.committed;
    link.send("ack", { seq: state.committed, ...(credit > 0 ? { credit } : {}) });
  }

  function heartbeat(link: Link, b: string): void {
    const body = readBody(Heartbeat, b);
    if (body === null) {
      link.refuse(unfit);
      return;
    }
    metrics.heartbeats.inc();
    link.heartbeatAt = now();
    link.running = Math.min(body.running, 1_000_000);
    options.beat(link);
    const isNews = link.accepting !== body.accepting;
    link.accepting = body.accepting;
    if (isNews || link.isBehind) options.changed(link);
    ackSoon(link);
  }

  function output(link: Link, state: State, b: string): void {
    const body = readBody(Progress, b);
    const bytes = body === null ? null : bytesOf(body.data);
    if (body === null || bytes === null) {
      link.refuse(unfit);
      return;
    }
    const isWithin = state.credit + bytes.length <= frameLimits.outputWindow;
    const passed = isWithin ? pass(link, state, body, bytes) : 0;
    if (passed < bytes.length) metrics.dropped.inc(bytes.length - passed);
    if (isWithin) state.credit += bytes.length;
    ackSoon(link);
  }

  /** @returns how many of the bytes are passed on: the first ones, as far as the command may have more output */
  function pass({ host }: Link, { runs }: State, progressed: Progress, all: Uint8Array): number {
    const { command_id, stream, offset } = progressed;
    const outlet = runs.get(command_id);
    if (outlet === undefined || host === null) return 0;
    const bytes = all.subarray(0, outlets.take(command_id, outlet, all.length));
    if (bytes.length > 0)
      progress.output(host.tenant, outlet.runId, { node_id: host.id, command_id, stream, offset, bytes });
    return bytes.length;
  }

  function put(link: Link, state: State, s: number, report: Report | null, bytes: number): void {
    state.waiting.push({ s, report, bytes });
    state.bytes += bytes;
    if (state.waiting.length > maxWaiting.reports || state.bytes > maxWaiting.bytes) link.overloaded(5_000);
    else void drain(link, state);
  }

  function reported(link: Link, state: State, t: string, b: string, s: number | null): void {
    const report = reportOf(t, b);
    if (report === "unknown") {
      if (s !== null) put(link, state, s, null, 0);
    } else if (s === null) link.refuse("it is not signed");
    else if (report === null) link.refuse(unfit);
    else put(link, state, s, report, b.length);
  }

  async function drain(link: Link, state: State): Promise<void> {
    if (state.isReporting) return;
    state.isReporting = true;
    // What came before the end of a link is taken: the daemon need not send it again.
    while (state.waiting.length > 0) {
      if (await isTaken(link, state, portionOf(state.waiting))) continue;
      // The daemon sends again what it hears nothing of.
      if (!link.isOpen) break;
      await Bun.sleep(retryMs);
    }
    state.isReporting = false;
    if (!link.isOpen) states.delete(link);
  }

  /** @returns false: a store is away, or the service is busy */
  async function isTaken(link: Link, state: State, portion: readonly Waiting[]): Promise<boolean> {
    const reports = portion.flatMap(({ report }) => report ?? []);
    try {
      await announceEnds(link, state, reports);
      taken(link, state, portion, reports.length === 0 ? null : await options.report(link, reports));
      return true;
    } catch (error) {
      if (!(error instanceof MessageRejected)) return false;
    }
    if (portion.length === 1) {
      rejected(link, state, portion);
      return true;
    }
    // One by one, what can be taken is taken.
    for (const one of portion) if (!(await isTaken(link, state, [one]))) return false;
    return true;
  }

  /** What a command put out stands before its result. */
  async function announceEnds({ host }: Link, state: State, reports: readonly Report[]): Promise<void> {
    const ends = reports.flatMap((report) => (report.type === "result" ? [report.command_id] : []));
    await Promise.all(
      ends.map((id) => {
        const outlet = state.runs.get(id);
        return outlet === undefined || host === null ? null : progress.ended(host.tenant, outlet.runId, host.id, id);
      }),
    );
  }

  /** It is done with: to hear it again would bring about the same. Its command ends by its deadline. */
  function rejected(link: Link, state: State, portion: readonly Waiting[]): void {
    leave(state, portion);
    for (const { report } of portion) if (report?.type === "result") forget(state, report.command_id);
    options.rejected(link);
    ackSoon(link);
  }

  function leave(state: State, portion: readonly Waiting[]): void {
    state.waiting = state.waiting.slice(portion.length);
    state.bytes -= portion.reduce((sum, { bytes }) => sum + bytes, 0);
    state.committed = portion.at(-1)?.s ?? state.committed;
  }

  /** Nothing more of the command is to come. */
  function forget(state: State, commandId: string): void {
    state.runs.delete(commandId);
    state.owed?.delete(commandId);
    outlets.forget(commandId);
  }

  function taken(link: Link, state: State, portion: readonly Waiting[], reply: ReportReply | null): void {
    leave(state, portion);
    for (const { report } of portion) if (report !== null) told(link, state, report);
    ackSoon(link);
    if (state.owed?.size === 0 && reply?.unfinished === 0) sendAway(link);
  }

  function told(link: Link, state: State, report: Report): void {
    if (report.type === "started" && link.host !== null) {
      const outlet = state.runs.get(report.command_id);
      const step = { node_id: link.host.id, command_id: report.command_id, status: "running" } as const;
      if (outlet !== undefined) progress.step(link.host.tenant, outlet.runId, step);
    }
    if (report.type !== "result") return;
    forget(state, report.command_id);
    const kind = report.result.error_kind;
    if (report.status === "refused" && kind !== null && policyKinds.has(kind))
      options.policyRefused(link, report.command_id, kind);
  }

  function sendAway(link: Link): void {
    ack(link);
    link.close(closes.outdated, "a newer version is required");
  }

  return {
    /**
     * A link is open.
     * @param runs of the commands that are with the daemon
     * @param owed of an outdated daemon: what it has listed; null: it is new enough
     */
    opened(link: Link, runs: ReadonlyMap<string, CommandOutlet>, owed: readonly string[] | null): void {
      states.set(link, {
        runs: new Map(runs),
        waiting: [],
        bytes: 0,
        isReporting: false,
        // The hello is committed as it is answered.
        committed: 1,
        acked: 1,
        credit: 0,
        owed: owed === null ? null : new Set(owed),
      });
    },
    /** The welcome is out: an outdated daemon that has nothing left to deliver goes. */
    welcomed(link: Link, unfinished: number): void {
      if (states.get(link)?.owed?.size === 0 && unfinished === 0) sendAway(link);
    },
    /** A command goes to the daemon. */
    sent(link: Link, commandId: string, outlet: CommandOutlet): void {
      states.get(link)?.runs.set(commandId, outlet);
    },
    closed(link: Link): void {
      if (states.get(link)?.isReporting === false) states.delete(link);
    },
    frame(link: Link, t: string, b: string, s: number | null): void {
      const state = states.get(link);
      if (state === undefined) return;
      if (t === "heartbeat") heartbeat(link, b);
      else if (t === "progress") output(link, state, b);
      else reported(link, state, t, b, s);
    },
  };
}

/** As many as go with one message, one at least. */
function portionOf(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex((one, at) => {
    bytes += one.bytes;
    return at > 0 && (at >= atOnce.reports || bytes > atOnce.bytes);
  });
  return end < 0 ? waiting.slice() : waiting.slice(0, end);
}

function bytesOf(data: string): Uint8Array | null {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  const length = (data.length / 4) * 3 - padding;
  return length > frameLimits.maxProgressBytes ? null : readBase64(data, length);
}

/** Null: the body does not fit. */
function reportOf(t: string, b: string): Report | null | "unknown" {
  if (t === "started") {
    const body = readBody(Started, b);
    return body === null ? null : { type: "started", command_id: body.command_id };
  }
  if (t === "capabilities") {
    const capabilities = readBody(Capabilities, b);
    return capabilities === null ? null : { type: "capabilities", capabilities };
  }
  if (t !== "result") return "unknown";
  const body = readBody(Result, b);
  if (body === null) return null;
  const { command_id, status, started_at, ...result } = body;
  const at = started_at === null ? null : Date.parse(started_at);
  if (Buffer.byteLength(JSON.stringify(result.structured)) > frameLimits.maxStructuredBytes) return null;
  if (result.exit_code !== null && !Number.isSafeInteger(result.exit_code)) return null;
  return { type: "result", command_id, status, result: { ...known(result), started_at: isMoment(at) ? at : null } };
}

/** Of members that a daemon may add nothing is kept. */
const known = (result: Omit<Result, "command_id" | "status" | "started_at">) => ({
  exit_code: result.exit_code,
  duration_ms: result.duration_ms,
  stdout_tail: result.stdout_tail,
  stderr_tail: result.stderr_tail,
  stdout_bytes: result.stdout_bytes,
  stderr_bytes: result.stderr_bytes,
  truncated: result.truncated,
  structured: result.structured,
  error_kind: result.error_kind,
  error_message: result.error_message,
});

const isMoment = (ms: number | null): boolean => ms !== null && Number.isFinite(ms) && ms >= 0;
