/** One turn of a schedule under construction: which times get a run, and when that is started. */
import type { Context, Turn } from "../../kernel/turn.ts";
import { TurnEffects } from "../../kernel/turn.ts";
import { workflowRunProtocol } from "../run/messages.ts";
import { type Overlap, type ScheduleMessages, scheduledStart, scheduleProtocol } from "./messages.ts";
import type { ScheduleState, Waiting } from "./state.ts";
import { nextTime, startOf } from "./times.ts";

/** Times that wait for the run before to end; later ones are skipped. */
const maxQueued = 100;
/** Times that wait for their start in all. */
const maxWaiting = 2_000;
/** A start that rates refuse is tried again for so long. */
const patienceMs = 5 * 60_000;
/** Deaths of a start's work after which its run is only looked for. */
const maxDeaths = 3;
/** A tenant that begins nothing is asked again no sooner than this. */
const heldMs = 60_000;

export class ScheduleTurn extends TurnEffects<ScheduleMessages> {
  state: ScheduleState;

  constructor(before: ScheduleState, context: Context) {
    super(scheduleProtocol, context);
    this.state = before;
  }

  get now(): number {
    return this.context.now;
  }

  change(members: Partial<ScheduleState>): void {
    this.state = { ...this.state, ...members };
  }

  skip(times: number): void {
    if (times > 0) this.change({ skipped: this.state.skipped + times });
  }

  /** Whether the run before is there, or about to be. */
  private get isBusy(): boolean {
    const { former, starting, waiting } = this.state;
    return former !== null || starting !== null || waiting.length > 0;
  }

  /**
   * Has a run started for each of these times, as far as the run before lets them.
   * @returns how many will be
   */
  offer(times: readonly number[], overlap: Overlap, backfill: boolean): number {
    return overlap === "cancel_previous" ? this.offerLast(times, backfill) : this.offerEach(times, overlap, backfill);
  }

  private offerEach(times: readonly number[], overlap: Overlap, backfill: boolean): number {
    let taken = 0;
    for (const time of times) {
      const { waiting } = this.state;
      const most = overlap === "queue" ? maxQueued : maxWaiting;
      if (waiting.length >= most || (overlap === "skip" && this.isBusy)) {
        this.skip(1);
        continue;
      }
      this.change({ waiting: [...waiting, { time, overlap, backfill }] });
      taken += 1;
      this.startNext();
    }
    return taken;
  }

  /** Each would end the one before it: only the last one is worth a start, and takes the place of such that wait. */
  private offerLast(times: readonly number[], backfill: boolean): number {
    const time = times.at(-1);
    if (time === undefined) return 0;
    this.skip(times.length - 1);
    this.drop((one) => one.overlap === "cancel_previous");
    const { waiting } = this.state;
    if (waiting.length >= maxWaiting) {
      this.skip(1);
      return 0;
    }
    this.change({ waiting: [...waiting, { time, overlap: "cancel_previous", backfill }] });
    this.startNext();
    return 1;
  }

  /** Begins the start that is next, once the one before is done and the run before lets it. */
  startNext(): void {
    const { waiting, starting, former } = this.state;
    const [next, ...rest] = waiting;
    if (next === undefined || starting !== null) return;
    if (former === null || next.overlap === "allow") this.start(next, rest);
    else if (next.overlap === "cancel_previous" && !former.cancelled) this.cancelFormer(former.execution_id);
  }

  private start({ time, backfill }: Waiting, rest: readonly Waiting[]): void {
    const execution_id = this.context.newId();
    this.change({
      waiting: [...rest],
      starting: {
        execution_id,
        time,
        backfill,
        revision: this.state.revision,
        ended: false,
        skipped: this.state.skipped,
      },
    });
    this.performStart();
  }

  /**
   * The work of the start under way has died, and may have started its run. A start is committed: it is begun again, and in
   * the end looked for.
   * @returns false when it was looked for already
   */
  startAgain(): boolean {
    const { starting } = this.state;
    if (starting === null || (starting.deaths ?? 0) >= maxDeaths) return false;
    this.change({ starting: { ...starting, deaths: (starting.deaths ?? 0) + 1 } });
    this.performStart();
    return true;
  }

  private performStart(): void {
    const { starting } = this.state;
    if (starting === null) return;
    const { execution_id, time, deaths = 0 } = starting;
    const again = deaths === 0 ? {} : { again: deaths < maxDeaths ? ("start" as const) : ("look" as const) };
    const input = { execution_id, time, start_by: this.now + patienceMs, ...again };
    this.perform(scheduledStart, input, { id: startId(starting), then: "start_ended" });
  }

  cancelFormer(execution_id: string): void {
    this.change({ former: { execution_id, cancelled: true } });
    this.tell(workflowRunProtocol, execution_id, "cancel", { reason: "A later start of its schedule takes its place" });
  }

  /** What waits gets no run. @param which all of it when absent */
  drop(which: (one: Waiting) => boolean = () => true): void {
    const kept = this.state.waiting.filter((one) => !which(one));
    this.skip(this.state.waiting.length - kept.length);
    this.change({ waiting: kept });
  }

  /** Sets the timer for the time that comes next, and takes back another one. */
  private setTimer(): void {
    const { paused, held, decided, terms, wake } = this.state;
    const time = paused ? null : nextTime(terms, held ? Math.max(this.now, decided) : decided);
    const start = time === null ? null : startOf(this.context.key, terms.jitter_ms, terms, time);
    const at = start !== null && held ? Math.max(start, this.now + heldMs) : start;
    if (at === wake) return;
    if (wake !== null) this.cancelTimer(timerAt(wake));
    if (at !== null) this.schedule(timerAt(at), at, "due", { at });
    this.change({ wake: at });
  }

  /** Closes the turn. */
  turn<Reply = never>(reply?: Reply): Turn<ScheduleState, Reply, ScheduleMessages> {
    this.setTimer();
    return { state: this.state, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }

  /** Closes the last turn: the schedule goes. */
  end<Reply = never>(reply?: Reply): Turn<ScheduleState, Reply, ScheduleMessages> {
    if (this.state.wake !== null) this.cancelTimer(timerAt(this.state.wake));
    return { state: null, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }
}

/** Of the work that starts a run. */
export const startId = ({ execution_id, deaths = 0 }: NonNullable<ScheduleState["starting"]>): string =>
  deaths === 0 ? `start:${execution_id}` : `start:${execution_id}:${deaths}`;

export const timerAt = (at: number): string => `due:${at}`;
