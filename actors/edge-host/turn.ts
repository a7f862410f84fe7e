/** One turn of a host: what it does to commands, and what follows from its new state. */

import type { Capabilities } from "../edge/frames.ts";
import type { Context, Turn } from "../kernel/turn.ts";
import { TurnEffects } from "../kernel/turn.ts";
import { type CommandEnd, type CommandFact, type CommandResult, commandFact, fleetRuns, frameFact } from "./command.ts";
import { nextDue, overdue, startWithinMs, strayMs } from "./deadlines.ts";
import { type EdgeHostMessages, edgeHostProtocol, type Offer } from "./messages.ts";
import { hostFact, rowOf } from "./row.ts";
import { freeSlots, type HostCommand, type HostState, isEligible, isInFlight, newHost } from "./state.ts";

/** Ended commands, and ids to be stopped, that are remembered. */
const remembered = 32;
/** Listed by one hello at most. */
const maxStrays = 256;

export interface Ending {
  readonly status: CommandEnd;
  readonly error_kind?: string | null;
  readonly reason?: string | null;
  readonly result?: CommandResult;
}

type Draft = { -readonly [K in keyof HostState]: HostState[K] };
type Changed = Partial<Pick<Exclude<CommandFact, { late: unknown }>, "epoch" | "dispatched_at" | "started_at">>;

export class HostTurn extends TurnEffects<EdgeHostMessages> {
  readonly state: Draft;
  private capabilities: Capabilities | null = null;

  constructor(
    private readonly before: HostState | null,
    context: Context,
  ) {
    super(edgeHostProtocol, context);
    this.state = { ...(before ?? newHost(context.now)) };
  }

  get now(): number {
    return this.context.now;
  }

  find(commandId: string): HostCommand | undefined {
    return this.state.commands.find((command) => command.command_id === commandId);
  }

  hasEnded(commandId: string): boolean {
    return this.state.ended.some(({ id }) => id === commandId);
  }

  become(status: HostState["status"]): void {
    if (this.state.status === status) return;
    this.state.status = status;
    this.state.since = this.now;
  }

  /** What the daemon says of its machine, for the host's row. */
  describe(capabilities: Capabilities): void {
    this.capabilities = capabilities;
  }

  add(offer: Offer): HostCommand {
    const { held: _, ...rest } = offer;
    const command: HostCommand = {
      ...rest,
      status: "pending",
      asked: false,
      not_after: null,
      started_at: null,
      reported: false,
      cancelled: null,
      delivery: 0,
    };
    this.state.commands = [...this.state.commands, command];
    return command;
  }

  change(command: HostCommand, to: Partial<HostCommand>): HostCommand {
    const changed = { ...command, ...to };
    this.state.commands = this.state.commands.map((one) => (one.command_id === command.command_id ? changed : one));
    return changed;
  }

  /** @returns whether it was sent */
  start(command: HostCommand): boolean {
    const { link, epoch } = this.state;
    if (link === null || freeSlots(this.state, this.now) === 0) return false;
    const not_after = this.now + startWithinMs;
    const delivery = command.delivery + 1;
    const sent = this.change(command, { status: "dispatched", asked: false, not_after, reported: false, delivery });
    this.put(sent, "dispatched", { epoch, dispatched_at: this.now });
    const { command_id, run_id, attempt, timeout_ms, max_output_bytes } = command;
    this.frame({
      ...{ kind: "invoke", command_id, run_id, attempt },
      ...{ not_after, timeout_ms, max_output_bytes },
    });
    return true;
  }

  /** The daemon has begun it. */
  run(command: HostCommand): HostCommand {
    const running = this.change(command, { status: "running", started_at: this.now });
    this.put(running, "running", { started_at: this.now });
    return running;
  }

  /** It never reached the daemon: it waits for its turn once more. */
  takeBack(command: HostCommand): void {
    this.put(
      this.change(command, { status: "pending", asked: false, not_after: null, reported: false }),
      "pending",
      {},
    );
  }

  /** Has the daemon cancel what it may be running. */
  cancelAtDaemon(commandId: string, reason: string): void {
    this.frame({ kind: "cancel", command_id: commandId, reason });
  }

  cancel(command: HostCommand, reason: string): void {
    const delivery = command.delivery + 1;
    this.change(command, { cancelled: { reason, at: this.now }, delivery });
    this.cancelAtDaemon(command.command_id, reason);
  }

  /** One that has ended here, and not at the daemon. */
  stray(commandId: string, reported: boolean): void {
    const until = this.now + strayMs;
    this.state.strays = [...this.state.strays, { command_id: commandId, reported, until }].slice(-maxStrays);
  }

  end(command: HostCommand, { status, error_kind = null, reason = null, result }: Ending): void {
    const { command_id, run_id, idx, attempt, tool } = command;
    this.state.commands = this.state.commands.filter((one) => one.command_id !== command_id);
    const started_at = command.started_at ?? result?.started_at ?? null;
    const duration_ms = result?.duration_ms ?? null;
    this.state.ended = [...this.state.ended, { id: command_id, tool, status, duration_ms }].slice(-remembered);
    this.fact(commandFact, {
      ...{ id: command_id, run_id, idx, attempt, host_id: this.context.key, tool, status },
      ended_at: this.now,
      ...(started_at === null ? {} : { started_at }),
      ...{ error_kind, reason },
      ...(result === undefined ? {} : { result }),
    });
    this.tell(fleetRuns, run_id, "command_ended", {
      ...{ idx, attempt, command_id, status, error_kind, duration_ms, reason },
      exit_code: result?.exit_code ?? null,
    });
  }

  /** A result that comes when the command is no more: the record may lack it. */
  late(commandId: string, result: CommandResult): void {
    this.fact(commandFact, { id: commandId, host_id: this.context.key, late: result });
  }

  stop(commandId: string): void {
    if (!this.hasEnded(commandId)) this.state.stopped = [...this.state.stopped, commandId].slice(-remembered);
  }

  /** Frames of earlier links are never sent. */
  voidFrames(): void {
    this.fact(frameFact, { host_id: this.context.key, kind: "void", before_epoch: this.state.epoch });
  }

  /** The turn, with what its state asks for: what is overdue ends, runs hear what could start, the timer is set. */
  turn(): Turn<HostState, never, EdgeHostMessages> {
    const { state } = this;
    if (isEligible(state)) state.idle_since = null;
    else state.idle_since ??= this.now;
    this.endOverdue();
    this.tellReady();
    this.setTimer();
    const row = rowOf(state);
    const former = this.before === null ? null : rowOf(this.before);
    if (this.capabilities !== null || JSON.stringify(row) !== JSON.stringify(former)) {
      const described = this.capabilities === null ? {} : { capabilities: this.capabilities };
      this.fact(hostFact, { host_id: this.context.key, ...row, ...described });
    }
    return { state, effects: this.effects };
  }

  private endOverdue(): void {
    for (const command of this.state.commands) {
      const over = overdue(this.state, command);
      if (over === null || over.at > this.now) continue;
      if (isInFlight(command) && over.error_kind === "no_response") {
        this.cancelAtDaemon(command.command_id, over.error_kind);
        this.stray(command.command_id, command.reported);
      }
      this.end(command, over);
    }
  }

  /**
   * Tells runs what could start, in order. What a run was told and has not answered counts for that run alone, so that
   * one that is paused holds up no other.
   */
  private tellReady(): void {
    const free = freeSlots(this.state, this.now);
    if (free === 0) return;
    const asked = new Map<string, number>();
    for (const { run_id, asked: isAsked } of this.state.commands)
      if (isAsked) asked.set(run_id, (asked.get(run_id) ?? 0) + 1);
    for (const command of this.state.commands) {
      const { run_id, idx, attempt } = command;
      const told = asked.get(run_id) ?? 0;
      if (isInFlight(command) || command.asked || told >= free) continue;
      asked.set(run_id, told + 1);
      this.change(command, { asked: true });
      this.tell(fleetRuns, run_id, "command_ready", { idx, attempt });
    }
  }

  /** One timer, at the first moment that counts. One that is set too early is left: it finds nothing, and is set anew. */
  private setTimer(): void {
    const { state } = this;
    const due = nextDue(state, this.now);
    if (state.due_at !== null && (due === null || due < state.due_at)) {
      this.cancelTimer("due");
      state.due_at = null;
    }
    if (due === null || state.due_at !== null) return;
    this.schedule("due", due, "due", {});
    state.due_at = due;
  }

  private put(command: HostCommand, status: HostCommand["status"], changed: Changed): void {
    const { command_id, run_id, idx, attempt, tool } = command;
    const host_id = this.context.key;
    this.fact(commandFact, { id: command_id, run_id, idx, attempt, host_id, tool, status, ...changed });
  }

  private frame(
    frame:
      | {
          readonly kind: "invoke";
          readonly command_id: string;
          readonly run_id: string;
          readonly attempt: number;
          readonly not_after: number;
          readonly timeout_ms: number;
          readonly max_output_bytes: number;
        }
      | { readonly kind: "cancel"; readonly command_id: string; readonly reason: string },
  ): void {
    const { link, epoch } = this.state;
    // To a host that is away nothing is sent: its next hello brings about what it needs.
    if (link === null) return;
    this.state.frames += 1;
    this.fact(frameFact, { host_id: this.context.key, epoch, node: link.node, ...frame });
  }
}
