/**
 * Activities: slow or outside work that an actor asked for, run here, outcome sent back as a message.
 *
 * A piece of work is a row until its outcome is taken in, so it survives the node that runs it: another
 * node adopts the rows of dead nodes and runs them again under the same id, `resumed`. The type of
 * the error decides about repeats: `Terminal` never, `Retryable` after its delay, anything else with backoff.
 */

import type { Outcome } from "../../../actors/kernel/activity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { correspondence } from "../handle.ts";
import type { ActivityRow } from "../lane/commit/activities.ts";
import type { AbortReason, Activity, ActivityContext, ActivitySlot, Address, AskOptions } from "../port.ts";
import { retryUntil } from "../timeout.ts";
import { firstVersion, versionOf } from "../versions/knowledge.ts";
import { runAttempts } from "./attempts.ts";
import { Beginnings, decisiveNodes, processDied, setAside } from "./deaths.ts";
import { notBegun, type Work } from "./fair-queue.ts";
import { heldSlot } from "./held-slot.ts";
import { ActivityResults } from "./results.ts";
import { Slots } from "./slots.ts";
import { type AdoptedRow, rowsOf, takeOver, withdrawDeaths } from "./takeover.ts";
import { WaitingWork } from "./waiting-work.ts";

interface Running {
  readonly work: Work;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Rows taken over at once, and bytes of their inputs, about. */
const mostTaken = 200;
const mostTakenBytes = 8 * 1024 * 1024;

export interface ActivityRunnerOptions {
  readonly sql: Sql;
  readonly node: string;
  readonly host: string;
  readonly activities: readonly Activity[];
  readonly now: () => number;
  /** Another host's work is left alone this long after that host was last seen, ms. */
  readonly orphanAfterMs: number;
  readonly random: () => number;
  /** What an activity asks it may have asked before, on a node that died. */
  ask(to: Address, type: string, body: Json, options: AskOptions): Promise<Json>;
  tell(to: Address, type: string, body: Json): Promise<void>;
  /** Delivers an outcome to the actor; resolves when it is accepted. @param atHand it may be handed over in memory */
  sendOutcome(to: Address, type: string, outcome: Outcome, atHand: boolean): Promise<void>;
  /** Those of the nodes that have died. */
  died(nodes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Tells the other nodes to stop this work. */
  broadcastAbandon(id: string): void;
  report(what: "activity_failed" | "activity_interrupted", facts: Record<string, unknown>): void;
  crash(point: "in_activity"): void;
}

export class ActivityRunner {
  private readonly activities: ReadonlyMap<string, Activity>;
  private readonly waiting = new WaitingWork();
  private readonly running = new Map<string, Running>();
  private readonly slots = new Map<string, Slots>();
  private readonly results: ActivityResults;
  private readonly beginnings: Beginnings;
  /** Rows of this node that the last look found and that this node neither runs nor queues. */
  private unknown = new Set<string>();
  private sweeps = 0;
  private draining = false;

  constructor(private readonly options: ActivityRunnerOptions) {
    this.activities = new Map(options.activities.map((activity) => [activity.definition.name, activity]));
    this.results = new ActivityResults(options, () => this.draining);
    this.beginnings = new Beginnings(options.sql, options.node, () => this.draining);
  }

  /** Null for work that this node cannot do. */
  isHostBound = (name: string, version: number = firstVersion): boolean | null => {
    const activity = this.activities.get(name);
    return activity === undefined || versionOf(activity.definition) < version ? null : activity.hostBound === true;
  };

  /** Begins work that was just committed on this node. */
  perform(rows: readonly ActivityRow[]): void {
    const now = this.options.now();
    for (const row of rows) {
      // What there is no room for is found in its row later, as work is whose commit this node never heard of; what this
      // node cannot do is found by one that can.
      if (!row.isKnown || this.knows(row.id) || this.waiting.room === 0) continue;
      this.enqueue({
        id: row.id,
        actor: { kind: row.kind, key: row.key, tenant: row.tenant },
        name: row.name,
        input: row.input,
        replyType: row.replyType,
        ...notBegun(now),
      });
    }
    this.fill();
  }

  /** Sends the outcomes that are not taken in again: Redis may have lost them. */
  sendResultsAgain(): void {
    this.results.sendAllAgain();
  }

  /** The actors gave this work up. */
  abandon(ids: readonly string[]): void {
    for (const id of ids) if (!this.abandonHere(id)) this.options.broadcastAbandon(id);
  }

  /** Stops the work if this node has it. */
  abandonHere(id: string): boolean {
    const running = this.running.get(id);
    if (running !== undefined) {
      running.controller.abort("abandoned" satisfies AbortReason);
      return true;
    }
    const work = this.waiting.take(id);
    if (work === undefined) return false;
    if (work.abandoned) {
      this.enqueue(work);
    } else if (work.resumed) {
      // An earlier attempt may have left something running outside: let the activity clean it up.
      this.enqueue({ ...work, abandoned: true });
      this.fill();
    } else void this.forget(id);
    return true;
  }

  /**
   * Takes over work whose node is gone, and fails work that waited too long for a slot. Called about
   * once a second while there is any, and when nodes come or go.
   * @returns whether there was nothing to do and nothing is under way here
   */
  async sweep(live: readonly string[]): Promise<boolean> {
    this.expire();
    if (this.draining) return true;
    const { sql, node, host, orphanAfterMs } = this.options;
    const room = Math.min(mostTaken, this.waiting.room);
    if (room > 0) {
      const names = [...this.activities.keys()];
      const formats = [...this.activities.values()].map(({ definition }) => versionOf(definition));
      const bounds = { orphanAfterMs, room, bytes: mostTakenBytes };
      await this.resume(await takeOver(sql, { node, host, live, names, formats, ...bounds }));
    }
    // Its price grows with the work that waits, so a long line is compared less often.
    this.sweeps++;
    if (this.sweeps % Math.ceil(this.waiting.size / 500 + 1) === 0) await this.reconcile();
    return this.known().size === 0 && this.unknown.size === 0;
  }

  private async resume(rows: readonly AdoptedRow[]): Promise<void> {
    const decisive = decisiveNodes(rows);
    const died = decisive.length === 0 ? noNodes : await this.options.died(decisive);
    const now = this.options.now();
    for (const row of rows) {
      if (this.knows(row.id)) continue;
      const work: Work = {
        id: row.id,
        actor: { kind: row.kind, key: row.key, tenant: row.tenant },
        name: row.name,
        input: row.input,
        replyType: row.reply_type,
        ...notBegun(now),
        resumed: true,
        moved: row.moved,
        abandoned: row.abandoned,
        attempt: row.attempt,
        deaths: row.suspects.length,
        takeovers: row.takeovers,
      };
      const message = setAside(row, died);
      if (message === null) this.enqueue(work);
      else this.refuse(work, message);
    }
    this.fill();
  }

  /** Fails work that is not to run again; what was given up has no one to tell. */
  private refuse(work: Work, message: string): void {
    this.options.report("activity_failed", factsOf(work, message));
    if (work.abandoned) void this.forget(work.id);
    else void this.results.send(work, { id: work.id, ok: false, code: processDied, message });
  }

  /** Whether this node has to do with it: waiting, running, or on its way to the actor. */
  private knows(id: string): boolean {
    return this.running.has(id) || this.results.has(id) || this.waiting.has(id);
  }

  private known(): Set<string> {
    return new Set([...this.running.keys(), ...this.results.ids(), ...this.waiting.ids()]);
  }

  /**
   * Compares what runs here with what the table says, after the table could not be heard: work given up
   * meanwhile is stopped, work that another node took over is left to it, and work that was written down for
   * this node in a commit whose end it never learnt is begun.
   */
  private async reconcile(): Promise<void> {
    const { sql, node } = this.options;
    const before = this.known();
    const rows = await sql<{ id: string; abandoned: boolean }[]>`
      select id, abandoned from runtime_activities where node = ${node}`;
    const mine = new Set(rows.map(({ id }) => id));
    const gone = [...before].filter((id) => !mine.has(id));
    await this.results.conclude(sql, gone);
    await withdrawDeaths(
      sql,
      node,
      gone.filter((id) => !this.results.has(id)),
    );
    for (const id of gone) this.leaveToOthers(id);
    const unknown = new Set<string>();
    for (const { id, abandoned } of rows) {
      if (!this.knows(id) && !before.has(id)) unknown.add(id);
      else if (this.results.has(id)) this.results.sendAgain(id);
      else if (abandoned) this.abandonHere(id);
    }
    // Found twice in a row: not just committed and about to be begun here.
    const lost = [...unknown].filter((id) => this.unknown.has(id)).slice(0, this.waiting.room);
    this.unknown = unknown;
    if (lost.length === 0) return;
    await this.resume(await rowsOf(sql, { node, bytes: mostTakenBytes }, lost));
  }

  /** Its row is gone, or another node's. */
  private leaveToOthers(id: string): void {
    this.results.delete(id);
    this.running.get(id)?.controller.abort("draining" satisfies AbortReason);
    this.waiting.take(id);
  }

  counts(): { running: number; waiting: number; waitingBytes: number } {
    return { running: this.running.size, waiting: this.waiting.size, waitingBytes: this.waiting.bytes };
  }

  /** Hands all work over: running work is aborted with `draining`, and every row is free for another node. */
  async drain(): Promise<void> {
    this.draining = true;
    for (const { controller } of this.running.values()) controller.abort("draining" satisfies AbortReason);
    await Promise.all([...this.running.values()].map((one) => one.done));
    const { sql, node } = this.options;
    await sql`update runtime_activities set node = null, released_at = now() where node = ${node}`;
  }

  private enqueue(work: Work): void {
    this.waiting.push(work);
    this.slotsOf(work.name).note(work.actor.tenant);
  }

  private fill(): void {
    if (this.draining) return;
    for (const name of this.waiting.names()) {
      const activity = this.activities.get(name);
      const slots = this.slotsOf(name);
      for (;;) {
        const work = slots.isFull ? undefined : this.waiting.shift(name, (tenant) => slots.admits(tenant));
        if (work === undefined) break;
        if (work.takesAgain === undefined) this.begin(work, activity, slots);
        else {
          slots.take(work.actor.tenant);
          work.takesAgain();
        }
      }
    }
  }

  private slotsOf(name: string): Slots {
    let slots = this.slots.get(name);
    if (slots === undefined) {
      slots = new Slots(this.activities.get(name)?.concurrency ?? 1, this.options.now);
      this.slots.set(name, slots);
    }
    return slots;
  }

  private begin(work: Work, activity: Activity | undefined, slots: Slots): void {
    const controller = new AbortController();
    if (work.abandoned) controller.abort("abandoned" satisfies AbortReason);
    const { tenant } = work.actor;
    slots.take(tenant);
    const slot = heldSlot({
      signal: controller.signal,
      giveBack: () => {
        slots.giveBack(tenant);
        this.fill();
      },
      ask: (takesAgain) => {
        this.enqueue({ ...work, queuedAt: this.options.now(), takesAgain });
        this.fill();
      },
      leave: () => void this.waiting.take(work.id),
    });
    const done = this.carryThrough(work, activity, controller.signal, slot).finally(() => {
      this.running.delete(work.id);
      slot.giveBack();
      this.fill();
    });
    this.running.set(work.id, { work, controller, done });
  }

  private async carryThrough(
    work: Work,
    activity: Activity | undefined,
    signal: AbortSignal,
    slot: ActivitySlot,
  ): Promise<void> {
    let outcome: Outcome | null;
    const ended = await this.beginnings.begin(work);
    if (ended === null) return;
    try {
      outcome =
        activity === undefined
          ? { id: work.id, ok: false, code: "unknown_activity", message: `no activity ${work.name}` }
          : await runAttempts(work, activity, signal, {
              context: (resumed) => this.context(work, signal, resumed, slot),
              begins: () => {
                work.onceTaken = [];
                this.options.crash("in_activity");
              },
              failed: async (error) => {
                this.options.report("activity_failed", factsOf(work, error));
                await this.rememberAttempt(work);
              },
              interrupted: (error) => this.options.report("activity_interrupted", factsOf(work, error)),
              random: this.options.random,
            });
    } catch {
      outcome = null;
    }
    ended();
    if (outcome !== null && !(signal.aborted && signal.reason === "abandoned")) {
      if (await this.results.send(work, outcome, activity?.atHand === true)) return;
      this.results.delete(work.id);
    }
    // Draining leaves the row to another node; given-up work is done with.
    if (signal.aborted && signal.reason === "abandoned") await this.forget(work.id);
  }

  private context(work: Work, signal: AbortSignal, resumed: boolean, slot: ActivitySlot): ActivityContext {
    const { actor } = work;
    return {
      id: work.id,
      actor,
      attempt: work.attempt,
      resumed,
      moved: work.moved,
      signal,
      slot,
      onceTaken: (act) => void work.onceTaken.push(act),
      of: (protocol) => correspondence(this.options, protocol, actor),
    };
  }

  private async rememberAttempt(work: Work): Promise<void> {
    const { sql } = this.options;
    // Only bounds repeats across crashes; without it the count merely starts anew.
    await sql`update runtime_activities set attempt = ${work.attempt} where id = ${work.id}`.catch(() => {});
  }

  private expire(): void {
    const now = this.options.now();
    for (const name of this.waiting.names()) {
      const limit = this.activities.get(name)?.queueTimeoutMs;
      if (limit === undefined) continue;
      for (const work of this.waiting.extract(
        name,
        (one) => !one.abandoned && one.takesAgain === undefined && now - one.queuedAt > limit,
      )) {
        const message = `no free slot within ${Math.round(limit / 1000)} s`;
        void this.results.send(work, { id: work.id, ok: false, code: "queue_timeout", message });
      }
    }
  }

  private async forget(id: string): Promise<void> {
    await retryUntil(
      async () => {
        await this.options.sql`delete from runtime_activities where id = ${id}`;
      },
      () => this.draining,
    );
  }
}

const noNodes: ReadonlySet<string> = new Set();

const factsOf = ({ name, id, attempt }: Work, error: string) => ({ activity: name, id, attempt, error });
