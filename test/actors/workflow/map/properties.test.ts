/** For random results of items and any order of messages: every item once, never more at work than allowed. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { mapOf, runId, system } from "../fixture.ts";
import { Company } from "./company.ts";

const acts = [
  "good",
  "good",
  "good",
  "bad",
  "post",
  "post",
  "post",
  "later",
  "retry",
  "cancel",
  "pause",
  "resume",
  "timer",
] as const;

const scene = fc.record({
  total: fc.integer({ min: 1, max: 24 }),
  concurrency: fc.integer({ min: 1, max: 6 }),
  batch: fc.integer({ min: 1, max: 9 }),
  tolerate: fc.oneof(
    fc.record({ count: fc.integer({ min: 0, max: 24 }) }),
    fc.record({ percent: fc.integer({ min: 0, max: 100 }) }),
  ),
  attempts: fc.integer({ min: 1, max: 3 }),
  joins: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
  acts: fc.array(fc.tuple(fc.constantFrom(...acts), fc.nat({ max: 40 })), { maxLength: 120 }),
  last: fc.constantFrom("end" as const, "end" as const, "end" as const, "cancel" as const, "erase" as const),
});

const result = (exit_code: number): Json => ({
  status: exit_code === 0 ? "success" : "failed",
  exit_code,
  stdout: "",
  stderr: "",
  duration_ms: 0,
  timed_out: false,
  truncated: false,
  attempts: 1,
  error: null,
  warnings: [],
});

type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

class Play {
  readonly company: Company;
  private readonly given = new Map<number, number>();

  constructor(readonly scene: Scene) {
    const { total, concurrency, batch, tolerate, attempts, joins } = scene;
    const retry = { attempts, delay_ms: 1_000, backoff: 1, max_delay_ms: 1_000, on: ["all"] };
    const item = system("true {{item}}", [], attempts === 1 ? {} : { retry });
    const list = Array.from({ length: total }, (_, at) => at);
    this.company = new Company(mapOf(item, list, { concurrency, batch, tolerate }));
    let turn = 0;
    this.company.joins = () => joins[turn++ % joins.length] ?? true;
    this.company.start();
  }

  /** How often an item was ordered to be tried again. */
  retriesOf = (index: number): number => this.given.get(index) ?? 0;

  get isOver(): boolean {
    return this.company.run.state === null || this.company.state.status !== "running";
  }

  step(what: (typeof acts)[number], pick: number): void {
    const { company } = this;
    if (this.isOver) return;
    if (what === "good") this.finish(pick, 0);
    else if (what === "bad") this.finish(pick, 3);
    else if (what === "post") company.post();
    else if (what === "later") company.now += pick * 100;
    else if (what === "timer") this.fire();
    else if (what === "retry") this.order(pick % this.scene.total, "retry");
    else if (what === "cancel") this.order(pick % this.scene.total, "cancel");
    else if (what === "pause" || what === "resume") company.ask(runId, what, {});
  }

  private order(index: number, order: "retry" | "cancel"): void {
    if (this.company.isCollecting) return;
    if (order === "retry") this.given.set(index, (this.given.get(index) ?? 0) + 1);
    this.company.ask(runId, "item", { state: "EACH", index, order });
  }

  /** @returns whether there was one to end */
  finish(pick: number, exit_code: number): boolean {
    const { company } = this;
    const open = company.asked.filter(({ id, of }) => company.sims.get(of)?.activities.has(id) === true);
    const work = open[pick % Math.max(1, open.length)];
    if (work === undefined) return false;
    const sim = company.sims.get(work.of);
    if (sim === undefined) throw new Error("no such record");
    sim.now = company.now;
    sim.succeed(work.id, result(exit_code));
    company.hearOf(work.of);
    return true;
  }

  fire(): boolean {
    const { company } = this;
    for (const [id, sim] of company.sims) {
      const [at] = [...sim.timers.values()].map((timer) => timer.at);
      if (at === undefined) continue;
      company.now = Math.max(company.now, at);
      sim.now = company.now;
      sim.fireNext();
      company.hearOf(id);
      return true;
    }
    return false;
  }

  /** Lets everything come to its end, well. */
  finishAll(): void {
    const { company } = this;
    if (!this.isOver) company.ask(runId, "resume", {});
    for (let count = 0; count < 2_000; count++) {
      if (company.post() || this.finish(0, 0) || this.fire()) continue;
      if (!company.isCollecting) return;
      company.collect();
    }
    throw new Error("it never comes to an end");
  }
}

/** A child record that was closed as too many had failed hears of it after the run was erased. */
const erasedWhileItCollects: Scene = {
  total: 2,
  concurrency: 1,
  batch: 2,
  tolerate: { percent: 0 },
  attempts: 1,
  joins: [true],
  acts: [["bad", 0]],
  last: "erase",
};

test("every item once and in order, slots kept, concurrency never exceeded", () => {
  fc.assert(
    fc.property(scene, (given) => {
      const play = new Play(given);
      const { company } = play;
      for (const [what, pick] of given.acts) play.step(what, pick);
      if (given.last !== "end" && !play.isOver)
        company.ask(runId, given.last, given.last === "cancel" ? { reason: null } : {});
      play.finishAll();
      expect(company.batches).toEqual([]);
      expect(company.outbox).toEqual([]);
      const statuses = [...company.rows.values()].map(({ status }) => status);
      expect(statuses.filter((status) => status === "running")).toEqual([]);
      for (const { index, attempts } of company.rows.values()) {
        expect(attempts).toBeLessThanOrEqual(given.attempts * (1 + play.retriesOf(index)));
        expect(company.begun.get(index) ?? 0).toBe(attempts);
      }
      if (company.run.state === null) {
        expect(company.rows.size).toBe(0);
        return;
      }
      expect(company.hasEnded).toBe(true);
      if (company.state.status === "cancelled") return;
      const { status, results, failed, succeeded, total } = company.result as {
        status: string;
        results: Json[];
        failed: { index: number }[];
        succeeded: number;
        total: number;
      };
      expect(total).toBe(given.total);
      expect(results.length).toBe(total);
      const of = (name: string) => [...company.rows.values()].filter((row) => row.status === name);
      expect(failed.map(({ index }) => index)).toEqual(
        of("failed")
          .map(({ index }) => index)
          .sort((a, b) => a - b),
      );
      if (status === "success") {
        expect(succeeded).toBe(of("completed").length);
        expect(company.rows.size).toBe(total);
        expect(succeeded + failed.length + of("cancelled").length).toBe(total);
      } else {
        const { tolerate } = given;
        const most = "count" in tolerate ? tolerate.count : (tolerate.percent * total) / 100;
        expect(failed.length).toBeGreaterThan(most);
      }
    }),
    { numRuns: 60, examples: [[erasedWhileItCollects]] },
  );
});
