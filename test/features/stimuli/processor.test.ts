import { expect, test } from "bun:test";
import { Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import type { Settlement, Stimulus } from "../../../actors/stimulus/stimulus.ts";
import type { RunRequest } from "../../../actors/workflow/run/start/request.ts";
import { createProcessor } from "../../../src/features/stimuli/intake/processing/processor.ts";
import type { StimulusSource } from "../../../src/features/stimuli/sources/port.ts";
import type { StartedRun } from "../../../src/features/workflows/runs/port.ts";
import { RuntimeUnavailable } from "../../../src/runtime/port.ts";
import { until } from "../../harness/until.ts";

const started = { execution_id: "run", workflow_id: "w", workflow_name: "north" } as StartedRun;
const stimulus = {
  tenant: "acme",
  id: "s",
  executionId: "run",
  source: "ci",
  channel: "webhook",
  acknowledge: "routed",
  content: "x",
  contentEncoding: "utf-8",
  contentType: null,
  headers: {},
  headersTruncated: false,
  override: null,
  attempts: 1,
  failures: 0,
  receivedAt: 0,
  receivedBy: { kind: "consumer", sub: "ada", email: "ada@example.com", tier: "free", realm: "svc-consumer" },
} as unknown as Stimulus;

interface World {
  readonly route?: Partial<StimulusSource> | null;
  /** What a start comes to; a run when absent. */
  readonly refused?: unknown;
  readonly exists?: boolean;
  /** How often the database does not take a release. */
  readonly away?: number;
  /** Whether the row is still this attempt's. */
  readonly isMine?: boolean;
  /** Runs that waited for it and took it. */
  readonly takenBy?: readonly string[];
  /** Those who wait cannot be told. */
  readonly waitsAway?: boolean;
}

/** Processes it in a world like that. @returns what became of it, and everything that was done meanwhile */
async function processStimulus(
  changes: Partial<Stimulus>,
  { route, refused, exists = false, away = 0, isMine = true, takenBy = [], waitsAway = false }: World = {},
) {
  const done: string[] = [];
  const requests: (RunRequest & { readonly fresh: boolean })[] = [];
  let settlement: Settlement | null = null;
  const run = createProcessor({
    sources: {
      sourceOf: async () => (route === undefined ? null : ({ enabled: true, ...route } as StimulusSource)),
      routerOf: async () => null,
    },
    runs: {
      async startAs(_, fresh, request) {
        requests.push({ ...request, fresh });
        if (refused !== undefined) throw refused;
        return started;
      },
      startedAs: async () => (exists ? started : null),
    },
    waits: {
      async tell() {
        if (waitsAway) throw new RuntimeUnavailable("no runtime");
        return takenBy.length;
      },
      takersOf: async () => takenBy,
    },
    classify: async () => {
      throw new Error("there is no router");
    },
    records: {
      settle: async (_, given) => {
        settlement = given;
        return isMine;
      },
      retry: async (_, given) => {
        settlement = given;
        done.push("retry");
        return isMine;
      },
      renew: async () => true,
      async release({ attempts }, at) {
        done.push(`release ${attempts} ${at}`);
        if (done.filter((one) => one.startsWith("release")).length <= away) throw new Error("connection lost");
      },
    },
    refund: async () => void done.push("refund"),
    settled: () => void done.push("settled"),
    report: (event) => void done.push(event),
    now: () => 1_000,
  });
  const processed = await run({ ...stimulus, ...changes });
  return { processed, done, requests, settlement: settlement as Settlement | null };
}

const direct = { workflow: "north", workflowVersion: "1.0.0" };
const problem = (code: ProblemCode) => new Problem(code, "no");

test("the run starts once, under the row's id, as its poster, exempt from limits", async () => {
  const { processed, done, requests } = await processStimulus({}, { route: direct });
  expect(processed).toMatchObject({
    kind: "ended",
    settlement: { status: "classified", detail: { routing_mode: "deterministic", confidence: 1 } },
  });
  expect(done).toEqual(["settled", "stimulus_classified"]);
  expect(requests).toMatchObject([
    {
      fresh: true,
      ref: "north",
      version: "1.0.0",
      stimulusId: "s",
      rateExempt: true,
      initiatedBy: { kind: "consumer", sub: "ada", email: "ada@example.com" },
    },
  ]);
  expect((await processStimulus({ attempts: 2 }, { route: direct })).requests[0]?.fresh).toBe(false);
});

test.each<[string, Partial<Stimulus>, World["route"], string | null]>([
  ["a replay's own choice", { override: { workflow: "south", version: null } }, direct, "south"],
  ["the route's workflow", {}, direct, "north"],
  ["the route's workflow, though it was disabled since", {}, { ...direct, enabled: false }, "north"],
  ["nothing by a disabled route, for who posts it himself", { channel: "api" }, { ...direct, enabled: false }, null],
  ["nothing where a route names none", {}, { workflow: null }, null],
])("it goes to %s", async (_, changes, route, workflow) => {
  const { requests, settlement } = await processStimulus(changes, route === undefined ? {} : { route });
  expect(requests[0]?.ref ?? null).toBe(workflow);
  if (workflow === null) expect(settlement).toMatchObject({ status: "rejected", code: "no_router_configured" });
});

test.each<[ProblemCode, object]>([
  ["workflow_not_found", { status: "classification_failed", code: "unknown_workflow", extras: { workflow: "north" } }],
  ["invalid_input", { status: "start_failed", code: "workflow_error", extras: { cause_code: "invalid_input" } }],
  ["workflow_start_failed", { status: "start_failed", code: "workflow_error" }],
])("a start refused with %s ends it, and gives back what was debited", async (code, expected) => {
  const { processed, done } = await processStimulus({}, { route: direct, refused: problem(code) });
  expect(processed).toMatchObject({ kind: "ended", settlement: expected });
  expect(done).toContain("refund");
});

test("an attempt whose store does not answer leaves the row to the next attempt", async () => {
  for (const refused of [problem("service_unavailable"), new Error("connection lost")]) {
    const { processed, done, settlement } = await processStimulus({}, { route: direct, refused });
    expect(processed.kind).toBe("unknown");
    expect(settlement).toBeNull();
    expect(done).not.toContain("refund");
  }
});

test("a stimulus whose attempt an outage ended is due again at once", async () => {
  const outage = problem("service_unavailable");
  const released = (done: readonly string[]) => done.filter((one) => one.startsWith("release"));
  expect(released((await processStimulus({}, { route: direct, refused: outage })).done)).toEqual(["release 1 1250"]);
  // Attempts that follow each other while one store is away do not keep the other busy.
  const later = await processStimulus({ attempts: 20 }, { route: direct, refused: outage });
  expect(released(later.done)).toEqual(["release 20 3000"]);
  const failedBefore = await processStimulus({ attempts: 4, failures: 3 }, { route: direct, refused: outage });
  expect(released(failedBefore.done)).toEqual(["release 4 1250"]);
  const both = await processStimulus({}, { route: direct, refused: outage, away: 1 });
  await until(() => released(both.done).length === 2, { what: "the release to be tried again" });
  const fault = await processStimulus({}, { route: direct, refused: new TypeError("a bug") });
  expect(released(fault.done)).toEqual([]);
});

test("one that nothing routes is classified by those who took it, and costs no rate", async () => {
  const takenBy = ["r1", "r2"];
  const alone = await processStimulus({}, { takenBy });
  expect(alone.processed).toEqual({
    kind: "ended",
    settlement: { status: "classified", started: null, detail: null },
    takenBy,
  });
  expect(alone.done).toEqual(["settled", "stimulus_classified", "refund"]);
  const both = await processStimulus({}, { route: direct, takenBy });
  expect(both.processed).toMatchObject({ settlement: { started: { workflow_name: "north" } }, takenBy });
  expect(both.done).toEqual(["settled", "stimulus_classified"]);
  const failed = await processStimulus({}, { route: direct, refused: problem("invalid_input"), takenBy });
  expect(failed.processed).toMatchObject({ settlement: { status: "start_failed" } });
});

test("one whose waiting runs cannot be told starts nothing, and is tried again", async () => {
  const { processed, done, requests } = await processStimulus({}, { route: direct, waitsAway: true });
  expect([processed.kind, requests]).toEqual(["unknown", []]);
  expect(done.some((one) => one.startsWith("release"))).toBe(true);
});

test("what an earlier attempt started counts, after any change of configuration", async () => {
  const later = await processStimulus({ attempts: 2 }, { exists: true });
  expect(later.processed).toMatchObject({
    kind: "ended",
    settlement: { status: "classified", started: { workflow_name: "north" } },
  });
  expect((await processStimulus({ attempts: 1 }, { exists: true })).settlement?.status).toBe("rejected");
});

test("an attempt that was taken over from tells nothing and gives nothing back", async () => {
  for (const acknowledge of ["routed", "received"] as const) {
    const refused = problem("invalid_input");
    const { processed, done } = await processStimulus({ acknowledge }, { route: direct, refused, isMine: false });
    expect(processed.kind).toBe("unknown");
    expect(done).not.toContain("refund");
    expect(done).not.toContain("stimulus_start_failed");
  }
});

test("a stimulus without a waiting caller ends after five failures, not after outages", async () => {
  const refused = problem("invalid_input");
  const tried = (failures: number, attempts: number) =>
    processStimulus({ acknowledge: "received", attempts, failures }, { route: direct, refused });
  for (const attempts of [4, 40]) {
    const again = await tried(3, attempts);
    expect([again.processed, again.done]).toEqual([{ kind: "retried" }, ["retry"]]);
  }
  const last = await tried(4, 5);
  expect(last.processed).toMatchObject({ kind: "ended", settlement: { status: "start_failed" } });
});
