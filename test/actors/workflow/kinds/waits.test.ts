/** Wait: for a time, a signal, a stimulus. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { WaitState } from "../../../../actors/workflow/definition/outside-states.ts";
import { afterSeconds, maxWaitMs, momentOf } from "../../../../actors/workflow/run/kinds/wait-time.ts";
import { runElement } from "../../../../actors/workflow/run/record/record.ts";
import { linesOf } from "../../../../actors/workflow/run/work.ts";
import { waitRows } from "../../../../src/features/workflows/waits/projection.ts";
import { branches, definitionOf, human, mapOf, noop, runId, wait, ways } from "../fixture.ts";
import { Company } from "../map/company.ts";
import { RunStory } from "../scenario.ts";

const stimulusId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";
const next = ways(["on_success", "DONE"], ["on_timeout", "LATE"], ["on_failure", "BAD"]);
const after = { DONE: noop(), LATE: noop(), BAD: noop() };

const storyOf = (awaited: string | WaitState["for"], change: object = {}, input: Json = {}): RunStory =>
  new RunStory(definitionOf({ HOLD: wait(awaited, next, change), ...after }), { input }).start();

const waitingFor = ({ state }: RunStory) => runElement({ execution_id: runId, tenant_id: "north" }, state).waiting_for;
const signalled = (story: RunStory, signal_name: string | null, payload?: Json): Json =>
  story.ask("signal", { signal_name, work_id: null, ...(payload === undefined ? {} : { payload }) });
const result = ({ blackboard }: RunStory) => blackboard.HOLD;

describe("a time", () => {
  test("seconds may be a template and have a fraction; the result says how long it was", () => {
    const story = storyOf({ what: "seconds", seconds: "{{input.pause}}" }, {}, { pause: 1.5 });
    expect(waitingFor(story)).toEqual({
      kind: "time",
      state_name: "HOLD",
      expires_at: new Date(story.sim.now + 1_500).toISOString(),
    });
    expect(story.sim.activities.size).toBe(0);
    expect(story.sim.fireNext()).toBe(true);
    expect(result(story)).toEqual({ status: "success", by: "time", waited_ms: 1_500, timed_out: false });
    expect(story.settle().way).toEqual(["HOLD", "DONE"]);
  });

  test("a year is a timer like any other", () => {
    const story = storyOf({ what: "seconds", seconds: String(maxWaitMs / 1000) });
    story.sim.fireNext();
    expect(result(story)).toMatchObject({ status: "success", waited_ms: maxWaitMs });
  });

  test("what is over is done at once", () => {
    const story = storyOf({ what: "until", until: "{{input.at}}" }, {}, { at: "2031-05-01T08:00:00Z" });
    expect(result(story)).toEqual({ status: "success", by: "time", waited_ms: 0, timed_out: false });
    expect(result(storyOf({ what: "seconds", seconds: "0" }))).toMatchObject({ status: "success", waited_ms: 0 });
  });

  test("what is no time fails the state, and rules see that", () => {
    const story = storyOf({ what: "seconds", seconds: "{{input.pause}}" }, {}, { pause: "soon" });
    expect(result(story)).toMatchObject({ status: "failed", error: "template_value_invalid" });
    expect(story.way).toEqual(["HOLD", "BAD"]);
    expect(result(storyOf({ what: "until", until: "{{input.at}}" }))).toMatchObject({
      error: "template_resolved_empty",
    });
  });

  const now = Date.UTC(2031, 4, 2, 6);
  test.each([
    ["2031-05-02T08:00:00+02:00", 0],
    ["2031-05-02T06:00:01.250Z", 1_250],
    ["2031-05-02T06:01", 60_000],
    ["2031-05-02 05:00:00-0200", 3_600_000],
    ["2031-05-03", 64_800_000],
    ["2031-05-02t06:00:00z", 0],
  ])("%s is a time", (text, ahead) => expect(momentOf(text, now)).toBe(now + ahead));

  test.each([
    "soon",
    "1",
    "May 2 2031",
    "2031-02-30",
    "2031-13-01",
    "2031-05-02T25:00Z",
    "2032-05-03",
    "2031-05-02T06",
    "Infinity",
  ])("%s is none", (text) => expect(() => momentOf(text, now)).toThrow());

  test.each(["-1", "1e3", "0x10", "Infinity", "NaN", "1,5", "31536000.1", "{}", "9".repeat(400)])(
    "%s are no seconds",
    (text) => expect(() => afterSeconds(text, now)).toThrow(),
  );
});

describe("a signal", () => {
  test("with its payload, or without one", () => {
    const story = storyOf("paid");
    expect(waitingFor(story)).toEqual({ kind: "signal", state_name: "HOLD", expires_at: null });
    story.sim.now += 250;
    expect(signalled(story, "paid", { sum: 3 })).toEqual({ outcome: "taken" });
    expect(result(story)).toEqual({
      status: "success",
      by: "signal",
      waited_ms: 250,
      payload: { sum: 3 },
      timed_out: false,
    });
    const bare = storyOf("paid");
    signalled(bare, "paid");
    expect(result(bare)).toEqual({ status: "success", by: "signal", waited_ms: 0, timed_out: false });
  });

  test("one that does not come in time", () => {
    const story = storyOf("paid", { timeout_ms: 5_000 });
    expect(waitingFor(story)?.expires_at).toBe(new Date(story.sim.now + 5_000).toISOString());
    story.sim.fireNext();
    expect(result(story)).toEqual({ status: "failed", by: "time", waited_ms: 5_000, timed_out: true });
    expect(story.settle().way).toEqual(["HOLD", "LATE"]);
  });

  test("one that comes at the stored deadline is too late, whether or not the timer ran", () => {
    const story = storyOf("paid", { timeout_ms: 5_000 });
    story.sim.now += 5_000;
    expect(signalled(story, "paid")).toEqual({ outcome: "buffered" });
    story.sim.fireNext();
    expect(story.settle().way).toEqual(["HOLD", "LATE"]);
  });
});

describe("a stimulus", () => {
  const shop = {
    what: "stimulus",
    source: "shop",
    key: "order.id",
    equals: "{{input.order}}",
    match: "payload.ok",
  } as const;
  const arrived = (story: RunStory, entry = 1): Json =>
    story.ask("stimulus_arrived", { entry, stimulus_id: stimulusId, payload: { ok: true } });

  test("what it watches for is rendered at the entry; the first that fits ends it", () => {
    const story = storyOf(shop, { timeout_ms: 60_000 }, { order: 7 });
    const [look] = story.sim.underWay("workflow.stimulus.watch");
    expect(look?.input).toMatchObject({ source: "shop", key: "order.id", equals: "7", match: "payload.ok", entry: 1 });
    expect(waitingFor(story)).toMatchObject({ kind: "stimulus", state_name: "HOLD" });
    expect(arrived(story, 2)).toEqual({ taken: false });
    expect(arrived(story)).toEqual({ taken: true });
    expect(arrived(story)).toEqual({ taken: false });
    expect(result(story)).toMatchObject({
      status: "success",
      by: "stimulus",
      stimulus_id: stimulusId,
      payload: { ok: true },
    });
    expect(story.sim.activities.size).toBe(0);
    expect(story.sim.facts.map(({ fact }) => fact)).toMatchObject([{ stimulus_id: stimulusId, state_name: "HOLD" }]);
  });

  test("one found by looking back; none found leaves it waiting", () => {
    const story = storyOf(shop, {}, { order: 7 });
    const id = story.sim.underWay("workflow.stimulus.watch")[0]?.id ?? "";
    story.sim.succeed(id, { stimulus: null });
    expect(story.state.current?.work.of).toBe("wait");
    const other = storyOf(shop, {}, { order: 7 });
    other.sim.succeed(other.sim.underWay("workflow.stimulus.watch")[0]?.id ?? "", {
      stimulus: { stimulus_id: stimulusId, payload: 1 },
    });
    expect(result(other)).toMatchObject({ by: "stimulus", payload: 1 });
  });

  test("too many Waits without a key, a blank value, and the deadline", () => {
    const story = storyOf(shop, {}, { order: 7 });
    story.sim.fail(story.sim.underWay("workflow.stimulus.watch")[0]?.id ?? "", "too_many_waits");
    expect(result(story)).toMatchObject({ status: "failed", by: "stimulus", error: "too_many_waits" });
    expect(result(storyOf(shop))).toMatchObject({ error: "template_resolved_empty" });
    const late = storyOf(shop, { timeout_ms: 1_000 }, { order: 7 });
    late.sim.now += 1_000;
    expect(arrived(late)).toEqual({ taken: false });
    late.sim.fireNext();
    expect(late.sim.abandoned.size).toBe(1);
    expect(result(late)).toMatchObject({ status: "failed", by: "time", timed_out: true });
  });
});

describe("which signal goes where", () => {
  test("a Wait's name to the Wait, any other to the approval, one without a name as well", () => {
    const sides = branches("SPLIT", 2, { left: { HOLD: wait("paid", []) }, right: { ASK: human([]) } });
    const story = new RunStory(definitionOf(sides)).start();
    const approval_id = story.toldOf("open")[0]?.key;
    expect(signalled(story, "other")).toEqual({ outcome: "approval", approval_id });
    expect(signalled(story, null, "yes")).toEqual({ outcome: "approval", approval_id });
    expect(signalled(story, "paid")).toEqual({ outcome: "taken" });
    expect(signalled(story, "paid")).toEqual({ outcome: "approval", approval_id });
    expect(story.state.signals).toBeUndefined();
  });

  test("of several the one that was entered first", () => {
    const line = (name: string) => ({ [name]: wait("go", []) });
    const sides = branches("SPLIT", 2, { left: { L0: noop(["always", "L1"]), ...line("L1") }, right: line("R1") });
    const story = new RunStory(definitionOf(sides)).start();
    signalled(story, "go", 1);
    expect(story.event("WorkflowStateExited").details).toMatchObject({ state_name: "R1", branch: "right" });
    signalled(story, "go", 2);
    expect(story.blackboard.SPLIT).toMatchObject({
      status: "success",
      branches: { left: { payload: 2 }, right: { payload: 1 } },
    });

    const asked = branches("SPLIT", 2, {
      left: { L0: noop(["always", "L1"]), L1: human([]) },
      right: { R1: human([]) },
    });
    const both = new RunStory(definitionOf(asked)).start();
    const [first] = both.toldOf("open").filter(({ body }) => body.state_name === "R1");
    expect(signalled(both, "yes")).toEqual({ outcome: "approval", approval_id: first?.key });
  });

  test("without either it is kept a day, a hundred of them, oldest first", () => {
    const story = new RunStory(
      definitionOf({
        ASK: human(ways(["approved", "HOLD"])),
        HOLD: wait("go", ways(["always", "AGAIN"])),
        AGAIN: wait("go", []),
      }),
    ).start();
    story.ask("pause");
    story.decide("approved");
    expect(signalled(story, null, "yes")).toEqual({ outcome: "no_open_approval" });
    expect(signalled(story, "go", "old")).toEqual({ outcome: "buffered" });
    story.sim.now += 24 * 3_600_000;
    for (let count = 0; count < 100; count++) {
      expect(signalled(story, count === 50 || count === 51 ? "go" : "other", count)).toEqual({ outcome: "buffered" });
    }
    expect(signalled(story, "other")).toEqual({ outcome: "buffer_full" });
    expect(story.types.filter((type) => type === "WorkflowSignalBuffered")).toHaveLength(101);
    expect(story.event("WorkflowSignalBuffered").details).toEqual({ signal_name: "other" });
    story.ask("resume");
    expect(story.blackboard.HOLD).toMatchObject({ by: "signal", payload: 50, waited_ms: 0 });
    expect(story.blackboard.AGAIN).toMatchObject({ by: "signal", payload: 51, waited_ms: 0 });
    expect(story.state.signals).toHaveLength(98);
    expect(signalled(story, "go")).toEqual({ outcome: "already_terminal", status: "completed" });
  });

  test("a Wait that is given up takes no signal with it", () => {
    const sides = {
      ...branches(
        "SPLIT",
        1,
        { left: { L1: noop() }, right: { R1: noop(["always", "R2"]), R2: wait("go", []) } },
        ways(["always", "HOLD"]),
      ),
      HOLD: wait("go", []),
    };
    const story = new RunStory(definitionOf(sides));
    story.enter();
    signalled(story, "go", 1);
    story.settle();
    expect(story.state.status).toBe("completed");
    expect(story.blackboard.HOLD).toMatchObject({ payload: 1 });
  });

  test("the same again under one id does nothing, also after the end", () => {
    const story = storyOf("paid");
    const asked = { signal_name: "paid", payload: 1, work_id: "w1" };
    expect(story.ask("signal", asked)).toEqual({ outcome: "taken" });
    expect(story.state.status).toBe("completed");
    expect(story.ask("signal", asked)).toEqual({ outcome: "taken" });
    expect(story.ask("signal", { ...asked, work_id: "w2" })).toMatchObject({ outcome: "already_terminal" });
  });
});

describe("items of a Map", () => {
  const company = (count: number, change: object = {}) => {
    const list = Array.from({ length: count }, (_, at) => at);
    return new Company(mapOf(wait("go", [], change) as never, list, { batch: 2, tolerate: { count } }));
  };
  const signal = (one: Company, payload: Json): void => {
    one.ask(runId, "signal", { signal_name: "go", payload, work_id: null });
    one.settle();
  };
  const results = ({ rows }: Company) =>
    [...rows].flatMap(([index, { result }]) => (result === null ? [] : [[index, JSON.parse(result).payload]]));

  test("take signals by way of their run, the one that waited longest first", () => {
    const one = company(3);
    signal(one.start().settle(), "a");
    signal(one, "b");
    expect(results(one)).toEqual([
      [0, "a"],
      [1, "b"],
    ]);
    expect(one.state.item_waits).toHaveLength(1);
    signal(one, "c");
    expect(results(one)).toEqual([
      [0, "a"],
      [1, "b"],
      [2, "c"],
    ]);
  });

  test("take a stimulus each by itself, though one record holds them", () => {
    const awaited = { what: "stimulus", source: "shop", key: null, equals: null, match: null } as const;
    const one = new Company(mapOf(wait(awaited, []) as never, ["a", "b"], { tolerate: { count: 0 } })).start().settle();
    const looked = one.asked.map(({ input }) => (input as { state_name: string }).state_name);
    expect(looked).toEqual(["EACH[0]", "EACH[1]"]);
    const [id, { current }] = one.batches[0] as (typeof one.batches)[number];
    const entries = linesOf(current).map((line) => line.current?.entry ?? 0);
    const rows = waitRows([{ key: id, tenant: "north", before: null, after: one.batches[0]?.[1] ?? null }] as never);
    expect(String(rows[0]?.parameters)).toContain('"state_name":"EACH[1]"');
    for (const entry of entries) one.ask(id, "stimulus_arrived", { entry, stimulus_id: stimulusId, payload: null });
    const taken = one.sims.get(id)?.facts.filter(({ name }) => name === "stimulus_taken");
    expect(taken?.map(({ fact }) => (fact as { state_name: string }).state_name)).toEqual(looked);
  });

  test("one whose time was over gives its signal to the next", () => {
    const one = company(2, { timeout_ms: 1_000 });
    one.joins = () => false;
    one.start().settle();
    const [record] = one.batches[0] ?? [""];
    // The run has not heard yet that both are over.
    one.tell(record, "item_left", { record: "x", entry: 9 });
    one.tell(record, "item_signalled", { run_id: runId, entry: 99, name: "go", payload: "back" });
    one.settle();
    expect(results(one)).toEqual([[0, "back"]]);
  });
});
