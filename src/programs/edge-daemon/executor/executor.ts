/**
 * Runs commands: each starts at most once, and ends in exactly one result. The order of every start is: policy, a process
 * that waits, the journal on disk, its release. A repeated question about a command is answered by what the journal knows.
 */
import { type Cancel, frameLimits, type Invoke, type Result } from "../../../../actors/edge/frames.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { CMD_RUN } from "../../../../actors/tool/catalog.ts";
import { identify } from "../../../lib/processes/process-table.ts";
import type { FsTool } from "../../../lib/tool-files/schema.ts";
import type { ServiceClock } from "../clock.ts";
import { crashPoint } from "../journal/crash-points.ts";
import type { Journal } from "../journal/journal.ts";
import type { DaemonMetrics } from "../metrics.ts";
import { isHostTool, type LocalPolicy, type Permission } from "../policy/local-policy.ts";
import { reasonOf } from "../state/directory.ts";
import { watchPlace } from "./closed-state.ts";
import { type CommandHost, prepareCommand } from "./command.ts";
import { type FileToolHost, prepareFileTool } from "./file-tool.ts";
import type { StreamName } from "./output.ts";
import { killSurvivors } from "./process-tree.ts";
import { fitting, type Prepared, resultOf, type Stop, type Unprepared } from "./results.ts";

/** What the connection is told; all of it may be lost, since the next connection asks the journal. */
export interface Reports {
  readonly started: (commandId: string, startedAt: string) => void;
  readonly ended: (commandId: string) => void;
  readonly output: (commandId: string, stream: StreamName, offset: number, bytes: Uint8Array) => void;
  /** The command writes no more: what waits of its output goes out now. */
  readonly flush: (commandId: string) => void;
  /** A command was not taken, since too many ends wait for the service; the next connection may bring it again. */
  readonly flooded: () => void;
}

export interface ExecutorParts {
  readonly slots: number;
  readonly journal: Journal;
  readonly policy: LocalPolicy;
  readonly clock: ServiceClock;
  readonly host: CommandHost & FileToolHost;
  readonly reports: Reports;
  readonly metrics: DaemonMetrics;
  readonly log: (message: string) => void;
  /** Told when no command runs any more. */
  readonly idle?: () => void;
}

interface Active {
  readonly id: string;
  /** `starting`: the journal does not know of it. `journaling`: it is being told. */
  phase: "starting" | "journaling" | "running" | "ending";
  startedAt: string;
  /** The connection that brought it is gone: it must not start. */
  isDropped: boolean;
  stop: Stop | null;
  prepared: Prepared | null;
  /** Resolves when the journal knows, or has refused. */
  journaled: Promise<unknown>;
  /** Resolves when it is over, whichever way. */
  over: Promise<void>;
}

export class Executor {
  readonly #active = new Map<string, Active>();
  #isDraining = false;
  readonly #isInPlace: () => boolean;

  constructor(private readonly parts: ExecutorParts) {
    this.#isInPlace = watchPlace(parts.host.state);
  }

  get running(): number {
    return this.#active.size;
  }

  /** Why no further command is taken. */
  get notAccepting(): ("draining" | "journal_failed")[] {
    const failed = this.parts.journal.failure !== null;
    return [...(this.#isDraining ? (["draining"] as const) : []), ...(failed ? (["journal_failed"] as const) : [])];
  }

  /** Ends what an earlier daemon left: its processes, then its commands, as lost. To be called once, first. */
  async settle(): Promise<void> {
    const { journal, reports } = this.parts;
    const settling = journal.unfinished().map(async ({ id, pid, born, started_at }) => {
      killSurvivors(pid, born, id);
      const message = "The daemon ended while the command was running";
      await journal.settled(resultOf(id, "lost", "daemon_restarted", message, { started_at }));
      reports.ended(id);
    });
    // A disk that takes no records holds up these ends, and not the daemon.
    await Promise.race([Promise.all(settling), Bun.sleep(settledWithinMs)]);
  }

  /** A command that the service sent, perhaps again. Never rejects. */
  invoke(invoke: Invoke): void {
    const id = invoke.command_id;
    const active = this.#active.get(id);
    if (active !== undefined) {
      if (active.phase === "running") this.parts.reports.started(id, active.startedAt);
      // Dropped with its connection and sent again on this one, before it was out of the way.
      if (active.isDropped) void active.over.then(() => this.invoke(invoke));
      return;
    }
    const known = this.parts.journal.stateOf(id);
    if (known === "finished") this.parts.reports.ended(id);
    if (known !== null) return;
    if (this.parts.journal.isFull) {
      this.parts.reports.flooded();
      return;
    }
    const fresh: Active = {
      id,
      phase: "starting",
      startedAt: "",
      isDropped: false,
      stop: null,
      prepared: null,
      journaled: Promise.resolve(),
      over: Promise.resolve(),
    };
    this.#active.set(id, fresh);
    this.parts.log(describe(invoke));
    const running = this.#run(fresh, invoke).catch((error: unknown) => this.#giveUp(fresh, invoke, error));
    fresh.over = running.finally(() => {
      this.#active.delete(id);
      if (this.#active.size === 0) this.parts.idle?.();
    });
  }

  /** Never rejects. */
  cancel(cancel: Cancel): void {
    const { command_id, reason, grace_ms } = cancel;
    const active = this.#active.get(command_id);
    // It never starts; what was sent again on this connection waits for its end, and is what is meant.
    if (active?.isDropped) {
      void active.over.then(() => this.cancel(cancel));
      return;
    }
    const stop: Stop = { status: "cancelled", kind: "cancelled", message: `Cancelled: ${reason}` };
    if (active !== undefined) {
      this.#stop(active, stop, grace_ms);
      return;
    }
    const known = this.parts.journal.stateOf(command_id);
    if (known === "finished") this.parts.reports.ended(command_id);
    if (known !== null) return;
    if (this.parts.journal.isFull) this.parts.reports.flooded();
    else void this.#finish(resultOf(command_id, "cancelled", "cancelled", stop.message), "");
  }

  /**
   * The connection is gone: what the journal does not know yet never starts. Resolves when the journal is told of all
   * others, so that it may be asked what runs.
   */
  async dropUnjournaled(): Promise<void> {
    for (const active of this.#active.values()) active.isDropped ||= active.phase === "starting";
    await Promise.all([...this.#active.values()].map(({ journaled }) => journaled));
  }

  /**
   * Takes no more commands; gives the running ones so long, then stops them. Resolves when none is left, or when their
   * ends cannot be put on disk.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const stop: Stop = { status: "cancelled", kind: "daemon_shutdown", message: "The daemon was stopped" };
    const stopping = setTimeout(() => {
      for (const active of this.#active.values()) this.#stop(active, stop, frameLimits.graceMs);
    }, graceMs);
    const until = performance.now() + graceMs + frameLimits.graceMs + writtenWithinMs;
    while (this.#active.size > 0 && performance.now() < until) {
      await Promise.race([...[...this.#active.values()].map(({ over }) => over), Bun.sleep(500)]);
    }
    clearTimeout(stopping);
  }

  /** Ends all commands at once: the host was revoked. */
  killAll(): void {
    const stop: Stop = { status: "cancelled", kind: "cancelled", message: "The host was revoked" };
    for (const active of this.#active.values()) this.#stop(active, stop, 0);
  }

  #stop(active: Active, stop: Stop, graceMs: number): void {
    if (active.stop !== null && graceMs > 0) return;
    active.stop ??= stop;
    const { prepared } = active;
    if (prepared === null || active.phase !== "running") return;
    void endGently(prepared, Math.min(graceMs, maxGraceMs));
  }

  async #run(active: Active, invoke: Invoke): Promise<void> {
    const { journal, policy, clock } = this.parts;
    const { command_id: id, tool } = invoke;
    const refuse = (kind: string, message: string) => this.#finish(resultOf(id, "refused", kind, message), tool);
    if (journal.failure !== null) return this.#refuseUnwritten(active, tool);
    if (this.#isDraining) return refuse("daemon_shutdown", "The daemon is being stopped");
    if (this.#isLate(invoke)) return refuse("expired", "The command came after its time to start");
    const taken = [...this.#active.values()].filter(({ isDropped }) => !isDropped).length;
    if (taken > this.parts.slots) return refuse("busy", `All ${this.parts.slots} slots are taken`);
    const permission = policy.judge(tool, invoke.args, invoke.security_context, clock.steady());
    if (!permission.allowed) return refuse(permission.kind, permission.message);
    try {
      const prepared = await this.#prepare(active, invoke, permission);
      if (active.isDropped) {
        if ("pid" in prepared) prepared.abandon();
        return;
      }
      if (!("pid" in prepared)) {
        await this.#finish(resultOf(id, prepared.status, prepared.kind, prepared.message), tool);
        return;
      }
      await this.#start(active, invoke, prepared);
    } finally {
      permission.release();
    }
  }

  async #prepare(active: Active, invoke: Invoke, permission: Permission): Promise<Prepared | Unprepared> {
    const { host, reports } = this.parts;
    const { tool } = invoke;
    if (!this.#isInPlace())
      return { status: "refused", kind: "io_error", message: "The state directory of this host is not where it was" };
    try {
      if (tool === CMD_RUN) {
        return await prepareCommand(host, invoke, permission, (stream, offset, bytes) =>
          reports.output(active.id, stream, offset, bytes),
        );
      }
      if (isFileTool(tool)) return prepareFileTool(host, invoke, tool, permission);
      return { status: "refused", kind: "tool_not_supported", message: `This host has no tool ${tool}` };
    } catch (error) {
      return { status: "err", kind: "spawn_failed", message: `The command could not be started: ${reasonOf(error)}` };
    }
  }

  async #start(active: Active, invoke: Invoke, prepared: Prepared): Promise<void> {
    const { journal, clock, reports } = this.parts;
    const { id } = active;
    if (active.stop !== null || this.#isLate(invoke) || clock.hasJumped()) {
      prepared.abandon();
      // Where the clock has jumped the connection ends, and the service sends the command again.
      if (active.stop === null && clock.hasJumped()) return;
      const { status, kind, message } = active.stop ?? late;
      await this.#finish(resultOf(id, status, kind, message), invoke.tool);
      return;
    }
    active.phase = "journaling";
    active.startedAt = iso(clock.now());
    const born = identify(prepared.pid)?.born ?? null;
    const writing = journal.started({ id, started_at: active.startedAt, pid: prepared.pid, born });
    active.journaled = writing;
    const written = await writing;
    if (!written) {
      prepared.abandon();
      return this.#refuseUnwritten(active, invoke.tool);
    }
    const stopped = stopOf(active);
    if (stopped !== null) {
      prepared.abandon();
      const facts = { started_at: active.startedAt };
      return this.#finish(resultOf(id, stopped.status, stopped.kind, stopped.message, facts), invoke.tool);
    }
    active.prepared = prepared;
    active.phase = "running";
    const began = clock.steady();
    prepared.release();
    crashPoint("released");
    reports.started(id, active.startedAt);
    const timeout: Stop = {
      status: "timed_out",
      kind: "timeout",
      message: `The command ran longer than ${prepared.timeoutMs} ms`,
    };
    const timer = setTimeout(() => this.#stop(active, timeout, frameLimits.graceMs), prepared.timeoutMs);
    const outcome = fitting(await prepared.outcome(() => active.stop));
    clearTimeout(timer);
    active.phase = "ending";
    reports.flush(id);
    const { status, kind, message, exitCode, structured, output } = outcome;
    const facts = { started_at: active.startedAt, duration_ms: Math.round(clock.steady() - began) };
    await this.#finish(
      resultOf(id, status, kind, message, { ...output, ...facts, exit_code: exitCode, structured }),
      invoke.tool,
    );
  }

  /** What this program did not foresee: the command ends all the same. */
  async #giveUp(active: Active, { tool }: Invoke, error: unknown): Promise<void> {
    this.parts.log(
      `command ${active.id} failed in the daemon: ${error instanceof Error ? error.stack : String(error)}`,
    );
    active.prepared?.kill();
    const known = this.parts.journal.stateOf(active.id);
    if (known === "finished" || known === "ending") return;
    await this.#finish(resultOf(active.id, "err", "internal", `The daemon failed: ${reasonOf(error)}`), tool);
  }

  #isLate({ not_after }: Invoke): boolean {
    // A moment that is none is no moment at which it may start.
    return !(this.parts.clock.now() <= Date.parse(not_after));
  }

  /** The journal takes nothing: the refusal is told without it. */
  async #refuseUnwritten(active: Active, tool: string): Promise<void> {
    const { journal, reports, metrics } = this.parts;
    const message = `The journal of this host cannot be written: ${journal.failure ?? "it has failed"}`;
    journal.remember(resultOf(active.id, "refused", "io_error", message));
    metrics.ended(tool, "refused");
    reports.ended(active.id);
  }

  async #finish(result: Result, tool: string): Promise<void> {
    await this.parts.journal.finished(result);
    const { command_id, status, error_kind } = result;
    this.parts.log(`command ${command_id} ended: ${status}${error_kind === null ? "" : `, ${error_kind}`}`);
    this.parts.metrics.ended(tool, status);
    this.parts.reports.ended(command_id);
  }
}

/** How long the daemon waits for the ends of former commands to be on disk before it connects, ms. */
const settledWithinMs = 2_000;
/** The longest grace that a cancelled command is given, ms. */
const maxGraceMs = 3_600_000;
/** How long the ends of stopped commands may take to be on disk, ms. */
const writtenWithinMs = 10_000;

/** As it is now: it may have come while the journal was written. */
const stopOf = ({ stop }: Active): Stop | null => stop;

const isFileTool = (tool: string): tool is FsTool => isHostTool(tool) && tool !== CMD_RUN;

const late = { status: "refused", kind: "expired", message: "The command came after its time to start" } as const;

/** A line for the host's own log: what is wanted by whom, and the trace that it belongs to. */
function describe({ command_id, tool, requested_by, trace }: Invoke): string {
  const by = `${JSON.stringify(requested_by.sub.slice(0, 200))} of ${JSON.stringify(requested_by.tenant_id.slice(0, 100))}`;
  const traced = trace === undefined ? "" : `, trace ${JSON.stringify(trace.traceparent)}`;
  return `command ${command_id}: ${JSON.stringify(tool)} for ${by}${traced}`;
}

/** SIGTERM, and SIGKILL for what is left after the grace. */
async function endGently(prepared: Prepared, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    prepared.terminate();
    const until = performance.now() + graceMs;
    let isOver = false;
    void prepared.exited.then(() => {
      isOver = true;
    });
    while (performance.now() < until && !(isOver && !prepared.hasProcesses())) await Bun.sleep(50);
  }
  prepared.kill();
}
