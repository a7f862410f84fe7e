/** Which times of a schedule get a run (docs/reference/workflow-schedules.md). */
import { describe, expect, test } from "bun:test";
import type { ActorDefinition } from "../../../../actors/kernel/actor.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { graceMs, workflowSchedule } from "../../../../actors/workflow/schedule/schedule.ts";
import type { ScheduleState } from "../../../../actors/workflow/schedule/state.ts";
import { Simulation } from "../../simulate.ts";

const minute = 60_000;
const hour = 60 * minute;
const begin = Date.UTC(2031, 4, 2, 6);
type Given = Partial<ScheduleState["terms"]>;

/** A schedule whose runs are started by the test. */
class Driven extends Simulation {
  private revision = 0;

  constructor(private readonly given: Given = {}) {
    super(workflowSchedule as unknown as ActorDefinition);
    this.settle();
  }

  settle(more: { terms?: Given | null; paused?: boolean; revision?: number } = {}): void {
    this.revision += 1;
    const usual = {
      when: { cron: "0 * * * *" },
      timezone: "UTC",
      jitter_ms: 0,
      overlap: "skip",
      catch_up: "last",
      catch_up_window_ms: 24 * hour,
      anchor: begin,
    };
    const terms = more.terms === null ? null : { ...usual, ...this.given, ...more.terms };
    const { paused = false, revision = this.revision } = more;
    this.askNow("settle", { revision, terms, paused, since: this.now } as unknown as Json);
  }

  get schedule(): ScheduleState {
    return this.state as unknown as ScheduleState;
  }
  /** The times for which starts were asked for, in order: hours of the day. */
  get times(): number[] {
    return this.performed.map(({ input }) => ((input as { time: number }).time - Date.UTC(2031, 4, 2)) / hour);
  }
  /** The start that is under way. */
  private get underway(): { id: string; run: string } {
    const [one, ...more] = this.underWay("workflow.scheduled_start");
    if (one === undefined || more.length > 0) throw new Error("not one start is under way");
    return { id: one.id, run: (one.input as { execution_id: string }).execution_id };
  }
  /** The run whose start is under way. */
  get asked(): string {
    return this.underway.run;
  }
  /** The start succeeds. @returns the run */
  started(): string {
    const { id, run } = this.underway;
    this.succeed(id, { result: "started", at: this.now });
    return run;
  }
  held(): void {
    this.succeed(this.underway.id, { result: "held" });
  }
  gone(): void {
    this.succeed(this.underway.id, { result: "gone" });
  }
  died(): Json {
    const { id } = this.underway;
    this.fail(id, "process_died", "its process died");
    return this.underWay("workflow.scheduled_start")[0]?.input ?? null;
  }
  refused(busy: boolean): void {
    this.succeed(this.underway.id, { result: "refused", code: "rate_limited", busy });
  }
  ended(execution_id: string, continued_as: string | null = null): void {
    this.tell("run_ended", { execution_id, continued_as });
  }
  /** Starts and ends every run that is asked for. */
  runAll(): void {
    while (this.underWay("workflow.scheduled_start").length > 0) this.ended(this.started());
  }
  /** Nothing runs until then; then the timer that was missed fires. */
  wakeAt(at: number): void {
    this.now = at;
    this.fireNext();
  }
  get cancelled(): Json[] {
    return this.told.flatMap((one) => (one.effect === "tell" && one.message.type === "cancel" ? [one.key] : []));
  }
}

describe("a time that has come", () => {
  test("is started once, and the next one is waited for", () => {
    const at = new Driven();
    for (let count = 0; count < 3; count++) {
      at.fireNext();
      at.runAll();
    }
    expect(at.times).toEqual([7, 8, 9]);
    expect(at.schedule).toMatchObject({ skipped: 0, former: null, wake: begin + 4 * hour });
    expect(at.schedule.last?.at).toBe(begin + 3 * hour);
    expect([...at.timers.values()].map((timer) => timer.at)).toEqual([begin + 4 * hour]);
  });

  test("a timer that fires early or again starts nothing", () => {
    const at = new Driven();
    at.tell("due", { at: begin + hour });
    expect(at.times).toEqual([]);
    at.fireNext();
    at.tell("due", { at: begin + hour });
    expect(at.times).toEqual([7]);
  });

  test("a clock that is set back starts nothing twice", () => {
    const at = new Driven();
    at.fireNext();
    at.runAll();
    at.now -= 30 * minute;
    at.fireNext();
    at.runAll();
    expect(at.times).toEqual([7, 8]);
  });

  test("a start whose work died is the same start again, and is looked for in the end", () => {
    const at = new Driven();
    at.fireNext();
    const run = at.asked;
    for (const again of ["start", "start", "look"]) expect(at.died()).toMatchObject({ execution_id: run, again });
    expect([at.started(), at.schedule.skipped, at.schedule.last?.execution_id]).toEqual([run, 0, run]);
    at.ended(run);
    at.fireNext();
    for (let death = 0; death < 4; death++) at.died();
    expect(at.schedule).toMatchObject({ skipped: 1, starting: null });
  });

  test("a run that ends before its start is told of is over", () => {
    const at = new Driven();
    at.fireNext();
    at.ended(at.asked);
    at.started();
    expect(at.schedule.former).toBeNull();
  });
});

describe("while the former run lives", () => {
  const two = (overlap: "skip" | "queue" | "allow" | "cancel_previous") => {
    const at = new Driven({ overlap });
    at.fireNext();
    const run = at.started();
    at.fireNext();
    return { at, run };
  };

  test("skip leaves its times out", () => {
    const { at, run } = two("skip");
    expect(at.times).toEqual([7]);
    expect(at.schedule.skipped).toBe(1);
    at.ended(run);
    at.fireNext();
    expect(at.times).toEqual([7, 9]);
  });

  test("queue starts them one after the other", () => {
    const { at, run } = two("queue");
    at.fireNext();
    expect(at.times).toEqual([7]);
    at.ended(run);
    const second = at.started();
    expect(at.times).toEqual([7, 8]);
    at.ended(second);
    expect(at.times).toEqual([7, 8, 9]);
    expect(at.schedule.skipped).toBe(0);
  });

  test("queue keeps a hundred", () => {
    const { at } = two("queue");
    for (let count = 0; count < 105; count++) at.fireNext();
    expect(at.schedule.waiting).toHaveLength(100);
    expect(at.schedule.skipped).toBe(6);
  });

  test("allow starts them all the same", () => {
    const { at } = two("allow");
    at.started();
    expect(at.times).toEqual([7, 8]);
  });

  test("cancel_previous ends it and starts once it has ended", () => {
    const { at, run } = two("cancel_previous");
    expect(at.cancelled).toEqual([run]);
    expect(at.times).toEqual([7]);
    at.fireNext();
    expect(at.cancelled).toEqual([run]);
    at.ended(run);
    expect(at.times).toEqual([7, 9]);
    expect(at.schedule.skipped).toBe(1);
  });

  test("a run that is continued lives on in its successor", () => {
    const { at, run } = two("cancel_previous");
    at.ended(run, "successor");
    expect(at.cancelled).toEqual([run, "successor"]);
    expect(at.times).toEqual([7]);
    at.ended("successor");
    expect(at.times).toEqual([7, 8]);
  });

  test("a run is continued before its start is told of", () => {
    const at = new Driven({ overlap: "queue" });
    at.fireNext();
    at.ended(at.asked, "second");
    at.ended("second", "third");
    at.started();
    expect(at.schedule.former?.execution_id).toBe("third");
    at.ended("third");
    expect(at.schedule.former).toBeNull();
  });

  test("the end of another run means nothing", () => {
    const { at } = two("queue");
    at.ended("another");
    expect(at.times).toEqual([7]);
  });
});

/** Nothing ran from the beginning until 15 minutes past three in the afternoon: nine times were missed. */
describe.each(["none", "last", "all"] as const)("after a night without a node, catch_up %s", (catch_up) => {
  const missed = [7, 8, 9, 10, 11, 12, 13, 14, 15];
  const caught = { none: [], last: [15], all: missed }[catch_up];

  test.each(["skip", "queue", "allow", "cancel_previous"] as const)("and overlap %s", (overlap) => {
    const at = new Driven({ catch_up, overlap });
    at.wakeAt(begin + 9 * hour + 15 * minute);
    at.runAll();
    const expected =
      overlap === "skip" ? caught.slice(0, 1) : overlap === "cancel_previous" ? caught.slice(-1) : caught;
    expect(at.times).toEqual(expected);
    expect(at.schedule.skipped).toBe(9 - expected.length);
    at.fireNext();
    expect(at.times).toEqual([...expected, 16]);
  });

  test("within its window", () => {
    const at = new Driven({ catch_up, overlap: "queue", catch_up_window_ms: 2 * hour });
    at.wakeAt(begin + 9 * hour + 15 * minute);
    at.runAll();
    expect(at.times).toEqual({ none: [], last: [15], all: [14, 15] }[catch_up]);
  });

  test("a time that has just come is none that was missed", () => {
    const at = new Driven({ catch_up, overlap: "queue" });
    at.wakeAt(begin + 2 * hour + graceMs);
    at.runAll();
    expect(at.times).toEqual({ none: [8], last: [7, 8], all: [7, 8] }[catch_up]);
  });
});

test("of more than a thousand missed times the latest are caught up", () => {
  const given = {
    when: { every_ms: minute },
    catch_up: "all",
    overlap: "allow",
    catch_up_window_ms: 48 * hour,
  } as const;
  const at = new Driven(given);
  at.wakeAt(begin + 24 * hour + 30_000);
  const times = [at.schedule.starting?.time, ...at.schedule.waiting.map(({ time }) => time)];
  expect(times).toEqual(Array.from({ length: 1_000 }, (_, index) => begin + (441 + index) * minute));
});

describe("a tenant that begins nothing", () => {
  test.each(["none", "last", "all"] as const)("its times count as missed when it may again: %s", (catch_up) => {
    const at = new Driven({ catch_up, overlap: "queue" });
    for (let count = 0; count < 3; count++) {
      at.fireNext();
      at.held();
    }
    const tries = at.performed.length;
    expect(at.schedule).toMatchObject({ held: true, former: null, waiting: [] });
    at.now += 30 * minute;
    at.askNow("release", {});
    at.runAll();
    expect(at.times.slice(tries)).toEqual({ none: [], last: [9], all: [7, 8, 9] }[catch_up]);
    expect(at.schedule).toMatchObject({ held: false, skipped: 3 - at.times.length + tries });
    at.fireNext();
    at.runAll();
    expect(at.times.at(-1)).toBe(10);
  });

  test("a time whose jitter is under way at the release is started behind it", () => {
    const at = new Driven({ jitter_ms: 30 * minute });
    at.fireNext();
    at.held();
    at.now = begin + 2 * hour + 1;
    at.askNow("release", {});
    at.runAll();
    expect(at.times).toEqual([7, 7]);
    at.fireNext();
    at.runAll();
    expect(at.times).toEqual([7, 7, 8]);
  });

  test("is not asked again at once", () => {
    const at = new Driven({ when: { every_ms: minute } });
    at.fireNext();
    at.now += 55_000;
    at.held();
    expect((at.schedule.wake ?? 0) - at.now).toBeGreaterThanOrEqual(minute);
  });
});

describe("a start that is refused", () => {
  test("is skipped, and others follow", () => {
    const at = new Driven({ overlap: "queue" });
    at.fireNext();
    at.fireNext();
    at.refused(false);
    expect(at.times).toEqual([7, 8]);
    expect(at.schedule.skipped).toBe(1);
  });

  test("by a rate, up to the last: what waits behind it is skipped as well", () => {
    const at = new Driven({ overlap: "queue" });
    for (let count = 0; count < 3; count++) at.fireNext();
    at.refused(true);
    expect(at.times).toEqual([7]);
    expect(at.schedule).toMatchObject({ skipped: 3, waiting: [] });
  });
});

describe("its row", () => {
  test("a pause drops what waits, and its times are never caught up", () => {
    const at = new Driven({ overlap: "queue", catch_up: "all" });
    at.fireNext();
    const run = at.started();
    at.fireNext();
    at.settle({ paused: true });
    expect(at.timers.size).toBe(0);
    at.ended(run);
    at.now += 3 * hour;
    at.settle();
    at.fireNext();
    at.runAll();
    expect(at.times).toEqual([7, 12]);
  });

  test("other terms keep what was decided; other times begin anew", () => {
    const at = new Driven({ catch_up: "all", overlap: "allow" });
    at.now += 90 * minute;
    at.settle({ terms: { overlap: "queue" } });
    at.fireNext();
    at.runAll();
    expect(at.times).toEqual([7]);
    at.now += 2 * hour;
    at.settle({ terms: { when: { cron: "30 * * * *" } } });
    at.fireNext();
    at.runAll();
    expect(at.times).toEqual([7, 10.5]);
  });

  test("an older revision changes nothing; without terms it ends", () => {
    const at = new Driven();
    at.settle({ terms: { overlap: "allow" }, revision: 1 });
    expect(at.schedule.terms.overlap).toBe("skip");
    at.settle({ terms: null });
    expect(at.state).toBeNull();
    expect(at.timers.size).toBe(0);
    at.ended("some");
    at.settle({ terms: null });
    expect(at.state).toBeNull();
  });
});

test("a schedule whose row is gone ends, unless the row came back meanwhile", () => {
  const at = new Driven();
  at.fireNext();
  at.settle();
  at.gone();
  expect(at.schedule.skipped).toBe(1);
  at.fireNext();
  at.gone();
  expect(at.state).toBeNull();
  expect(at.timers.size).toBe(0);
});

describe("a backfill", () => {
  const ask = (at: Driven, from: number, to: number, overlap: string | null = null, id = "b-1") =>
    at.askNow("backfill", { id, from: begin - from * hour, to: begin - to * hour, overlap });

  test.each([
    [null, 1, 4],
    ["skip", 1, 4],
    ["queue", 5, 0],
    ["allow", 5, 0],
    ["cancel_previous", 1, 4],
  ])("overlap %p", (overlap, started, skipped) => {
    const at = new Driven();
    expect(ask(at, 5, 1, overlap)).toEqual({ outcome: "done", started, skipped });
    at.runAll();
    expect(at.times).toHaveLength(started);
  });

  test("a repeated request is one backfill", () => {
    const at = new Driven();
    const first = ask(at, 5, 1, "allow");
    expect(ask(at, 5, 1, "allow")).toEqual(first);
    at.runAll();
    expect(at.times).toEqual([1, 2, 3, 4, 5]);
  });

  test("of more than a thousand times is refused, and one of an unknown schedule", () => {
    const at = new Driven();
    expect(ask(at, 1_001, 0)).toEqual({ outcome: "too_many" });
    expect(ask(at, 999, 0, "allow")).toEqual({ outcome: "done", started: 1_000, skipped: 0 });
    at.settle({ terms: null });
    expect(ask(at, 5, 1)).toEqual({ outcome: "unknown" });
  });

  test("goes on while the schedule is paused", () => {
    const at = new Driven();
    at.settle({ paused: true });
    ask(at, 2, 1, "queue");
    at.runAll();
    expect(at.times).toEqual([4, 5]);
  });
});

test("a run by hand shows as the last one and is not waited for", () => {
  const at = new Driven();
  at.askNow("started_by_hand", { execution_id: "hand", at: at.now });
  expect(at.schedule).toMatchObject({ last: { execution_id: "hand" }, former: null });
  at.askNow("started_by_hand", { execution_id: "older", at: at.now - 1 });
  expect(at.schedule.last?.execution_id).toBe("hand");
});

test("jitter delays a start, and a node that dies between is no reason to lose it", () => {
  const at = new Driven({ jitter_ms: 30 * minute });
  const { wake } = at.schedule;
  expect(wake).toBeGreaterThan(begin + hour);
  at.wakeAt(begin + hour + 1);
  expect(at.times).toEqual(wake === at.now ? [7] : []);
  at.fireNext();
  expect(at.times).toEqual([7]);
});
