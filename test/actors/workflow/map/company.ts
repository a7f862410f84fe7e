/**
 * A run at a Map with its child records, each of them an actor of its own: their messages to each other are delivered in
 * any order that the runtime may choose. What is told in one commit comes at once, or it goes by the outbox like the rest,
 * which keeps the order between two actors.
 */
import { expect } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ActorDefinition } from "../../../../actors/kernel/actor.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { MapState } from "../../../../actors/workflow/definition/composed-states.ts";
import type { ItemRow } from "../../../../actors/workflow/run/map/progress.ts";
import { type ItemsFact, ItemsFact as ItemsFactSchema, itemsFact } from "../../../../actors/workflow/run/map/rows.ts";
import type { StoredEvent } from "../../../../actors/workflow/run/record/events.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../../actors/workflow/run/state.ts";
import { linesOf } from "../../../../actors/workflow/run/work.ts";
import { type Activity, Simulation } from "../../simulate.ts";
import { definitionOf, headerOf, noop, runId } from "../fixture.ts";

const factCheck = TypeCompiler.Compile(ItemsFactSchema);

interface Letter {
  readonly to: string;
  readonly type: string;
  readonly body: Json;
}

export class Company {
  readonly sims = new Map<string, Simulation>();
  private readonly read = new Map<string, { told: number; facts: number; performed: number }>();
  /** What the outbox holds, in order. */
  readonly outbox: Letter[] = [];
  readonly rows = new Map<number, ItemRow>();
  /** How often each item began, by its index. */
  readonly begun = new Map<number, number>();
  /** Activities of items, with the actor that asked for them. */
  readonly asked: (Activity & { readonly of: string })[] = [];
  hasEnded = false;
  isGone = false;
  /** Whether what is told in one commit is handled in it; by turns. */
  joins: () => boolean = () => true;
  now = Date.UTC(2031, 4, 2, 6);

  constructor(
    readonly map: MapState,
    readonly header: Parameters<typeof headerOf>[0] = {},
    private readonly seen: { readonly [key: string]: Json } = { seen: "all", unseen: "x" },
  ) {
    this.simOf(runId);
  }

  get run(): Simulation {
    return this.simOf(runId);
  }
  get state(): RunState {
    return this.run.state as unknown as RunState;
  }
  get batches(): [string, RunState][] {
    return [...this.sims].flatMap(([id, { state }]) =>
      id === runId || state === null ? [] : [[id, state as unknown as RunState] as [string, RunState]],
    );
  }
  get events(): StoredEvent[] {
    return this.run.log() as unknown as StoredEvent[];
  }
  get result(): { readonly [member: string]: Json } {
    const exit = this.events.findLast(({ type }) => type === "WorkflowStateExited");
    if (exit === undefined) throw new Error("the Map is still at work");
    return exit.details.output as { readonly [member: string]: Json };
  }

  start(): this {
    const definition = definitionOf({ EACH: this.map, AFTER: noop() });
    this.ask(runId, "start", {
      header: headerOf(this.header),
      definition,
      input: {},
      overrides: this.seen,
      resume: null,
    } as never);
    return this;
  }
  ask(id: string, type: string, body: Json): string {
    const sim = this.simOf(id);
    sim.now = this.now;
    const call = sim.ask(type, body);
    this.hearOf(id);
    return call;
  }
  tell(id: string, type: string, body: Json): void {
    const sim = this.simOf(id);
    sim.now = this.now;
    sim.tell(type, body);
    this.hearOf(id);
  }
  /** Asks for an item and delivers everything. @returns the answer */
  item(index: number, order: "retry" | "cancel"): Json {
    const call = this.ask(runId, "item", { state: "EACH", index, order });
    this.settle();
    return [...this.sims.values()].map((sim) => sim.answers.get(call)).find((one) => one !== undefined) ?? null;
  }
  /** Delivers the next letter. */
  post(): boolean {
    const letter = this.outbox.shift();
    if (letter === undefined) return false;
    this.tell(letter.to, letter.type, letter.body);
    return true;
  }
  settle(): this {
    for (let count = 0; this.post(); count++) if (count > 100_000) throw new Error("it never comes to rest");
    return this;
  }
  /** Puts the results together, as the activity does. */
  collect(): this {
    const work = [...this.run.activities.values()].find(({ activity }) => activity === "workflow.map_results");
    if (work === undefined) throw new Error("nothing is to be put together");
    const { total } = work.input as { readonly total: number };
    const results = Array.from(
      { length: total },
      (_, index) => JSON.parse(this.rows.get(index)?.result ?? "null") as Json,
    );
    const failed = [...this.rows.values()].filter(({ status }) => status === "failed");
    this.run.now = this.now;
    this.run.succeed(work.id, {
      results,
      failed: failed.map(({ index, error }) => ({ index, error: error ?? "" })).sort((a, b) => a.index - b.index),
    });
    this.hearOf(runId);
    return this.settle();
  }
  get isCollecting(): boolean {
    return [...this.run.activities.values()].some(({ activity }) => activity === "workflow.map_results");
  }

  private simOf(id: string): Simulation {
    const known = this.sims.get(id);
    if (known !== undefined) return known;
    // Ids that different actors make must differ.
    const sim = new Simulation(workflowRun as unknown as ActorDefinition, id, "north", this.sims.size * 1_000_000);
    sim.now = this.now;
    this.sims.set(id, sim);
    this.read.set(id, { told: 0, facts: 0, performed: 0 });
    return sim;
  }

  /** What an actor put on record, asked for and told in its last turn. */
  hearOf(id: string): void {
    const sim = this.simOf(id);
    const read = this.read.get(id) as { told: number; facts: number; performed: number };
    for (; read.facts < sim.facts.length; read.facts++) {
      const { name, fact } = sim.facts[read.facts] ?? { name: "", fact: null };
      if (name === itemsFact.name) this.note(fact as unknown as ItemsFact);
    }
    for (; read.performed < sim.performed.length; read.performed++) {
      const work = sim.performed[read.performed] as Activity;
      if (work.activity !== "workflow.map_results") this.asked.push({ ...work, of: id });
    }
    const joined: Letter[] = [];
    for (; read.told < sim.told.length; read.told++) {
      const effect = sim.told[read.told];
      if (effect?.effect !== "tell" || effect.kind !== "workflow_run") continue;
      const letter = { to: effect.key, type: effect.message.type, body: effect.message.body };
      if (letter.type === "run_ended" || letter.type === "cancel") continue;
      if (effect.coCommit === true && this.joins()) joined.push(letter);
      else this.outbox.push(letter);
    }
    for (const letter of joined) this.tell(letter.to, letter.type, letter.body);
    this.check();
  }

  private note(fact: ItemsFact): void {
    expect(factCheck.Errors(fact).First() ?? null).toBeNull();
    if (fact.of === "gone") {
      this.isGone = true;
      this.rows.clear();
    } else if (fact.of === "map") {
      this.hasEnded = fact.ended;
      if (!fact.ended) this.rows.clear();
    } else {
      for (const row of fact.items) {
        const before = this.rows.get(row.index);
        if (row.attempts > 0 && row.attempts !== (before?.attempts ?? 0)) {
          this.begun.set(row.index, (this.begun.get(row.index) ?? 0) + 1);
        }
        this.rows.set(row.index, { ...row, execution_id: row.execution_id ?? before?.execution_id ?? null });
      }
    }
  }

  /** What holds after every turn. */
  check(): void {
    const work = (this.run.state as unknown as RunState | null)?.current?.work;
    const atWork = this.batches.reduce((sum, [, { current }]) => sum + linesOf(current).length, 0);
    const slots = this.batches.reduce((sum, [, { current }]) => {
      return sum + (current?.work.of === "batch" ? current.work.slots : 0);
    }, 0);
    for (const [, { current, status }] of this.batches) {
      expect(status).toBe("running");
      if (current?.work.of !== "batch") throw new Error("a child record at something else");
      expect(current.work.lines.length).toBeLessThanOrEqual(current.work.slots);
      expect(current.work.news).toEqual([]);
      expect(current.work.lines.every(({ end }) => end === null)).toBe(true);
    }
    expect(atWork).toBeLessThanOrEqual(this.map.concurrency);
    expect(slots).toBeLessThanOrEqual(this.map.concurrency);
    if (work?.of !== "map") return;
    const given = work.batches.reduce((sum, { granted, returned }) => sum + granted - returned, 0);
    expect(given).toBeLessThanOrEqual(this.map.concurrency);
    expect(given).toBeGreaterThanOrEqual(0);
  }
}
