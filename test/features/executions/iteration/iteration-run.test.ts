/** The work that launches an instance: what it does when it was held up between its question and the launch. */
import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import type { PickedUpReply } from "../../../../actors/execution/messages.ts";
import { type Sandbox, Sandboxes } from "../../../../src/adapters/sandbox/port.ts";
import { iterationRunActivities, notStarted } from "../../../../src/features/executions/iteration/iteration-run.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { sampleHeader, samplePlan } from "../../../actors/execution/fixture.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";

const began = performance.now();
let ahead = 0;
const clock = spyOn(performance, "now").mockImplementation(() => began + ahead);
afterEach(() => {
  ahead = 0;
});
afterAll(() => clock.mockRestore());

const proceed: PickedUpReply = {
  proceed: true,
  iteration: 1,
  attempt: 1,
  deadline_at: 1,
  console: { stdout: 0, stderr: 0 },
};
const work = { execution_id: "e", iteration: 1, attempt: 1, instance_id: "i", replaces: null };
const address = { kind: "execution", key: "e", tenant: "acme" };

interface World {
  /** What the execution answers, from the first question on; the last one to all that follow. */
  readonly answers: readonly PickedUpReply[];
  /** How long the node stands still while it prepares the launch, ms. */
  readonly frozenMs: number;
  /** How long each question takes, ms. */
  readonly askMs?: number;
  /** How long it stands still within the launch, ms. */
  readonly launchMs?: number;
  /** Whether the work was taken over from another host, which had been told to launch the instance. */
  readonly movedFrom?: "waiting" | "running";
  /** What there is of the instance at the second look. */
  readonly later?: "gone" | "running";
}

/** @returns what was done, and how the iteration ended */
async function launched({ answers, frozenMs, askMs = 0, launchMs = 0, movedFrom, later = "gone" }: World) {
  const done: string[] = [];
  let asked = 0;
  const header = sampleHeader();
  const runtime = fakeRuntime({
    ask: async (_to, type) => {
      done.push(type);
      ahead += askMs;
      return answers[Math.min(asked++, answers.length - 1)];
    },
    tell: async (_to, type) => void done.push(type),
    state: () => ({ header, iteration: { spawned: false, phase: asked === 0 ? (movedFrom ?? "waiting") : "running" } }),
  });
  const isolation = header.runtime.isolation;
  const sandbox = {
    describe: () => ({ isolation, sandbox: "none", egressEnforced: false, unenforcedLimits: [] }),
    inspect: async () => (asked > 1 ? later : "gone"),
    launch: async () => {
      done.push("launch");
      ahead += launchMs;
    },
    follow: async () => ({ reason: "exited", exitCode: 0, stdout: "", stdoutTruncated: false, stderr: "" }),
    terminate: async () => {},
    remove: async () => void done.push("remove"),
    list: async () => [],
    // Of a sandbox only what the work uses.
  } as unknown as Sandbox;
  const [activity] = iterationRunActivities({
    sandboxes: new Sandboxes([sandbox]),
    watchVolumes: () => () => {},
    recordViolation: () => {},
    maxInstances: 4,
    hasRoom: () => true,
    runtime,
    plans: { of: async () => samplePlan() },
    gatewayUrl: "http://127.0.0.1:1",
    tokenSeconds: 600,
    parking: { watch: async () => () => {} },
    mintToken: async () => "token",
    mintEgressToken: async () => "token",
    instanceMounts: async () => [],
    references: { environmentOf: async (_, { env }) => env, maskerOf: async () => null, knows: async () => true },
    contextText: async () => {
      ahead += frozenMs;
      return "";
    },
  });
  const context = {
    actor: address,
    moved: movedFrom !== undefined,
    signal: new AbortController().signal,
    slot: { giveBack() {}, takeAgain: async () => {} },
    onceTaken: () => {},
    of: () => runtime.of({ kind: "execution" } as never).at(address.tenant, address.key),
    // Of a context only what the work uses.
  } as unknown as ActivityContext;
  const end = await activity?.run(work, context);
  return { done, end };
}

test("an instance is launched after one question where nothing held the node up", async () => {
  const { done } = await launched({ answers: [proceed], frozenMs: 0 });
  expect(done).toEqual(["picked_up", "launch", "instance_spawned"]);
});

test("a node that was frozen before the launch asks again, and launches what is wanted", async () => {
  const { done } = await launched({ answers: [proceed], frozenMs: 60_000 });
  expect(done).toEqual(["picked_up", "picked_up", "launch", "instance_spawned"]);
});

test("a node whose questions take seconds launches after some of them", async () => {
  const { done } = await launched({ answers: [proceed], frozenMs: 0, askMs: 5_000 });
  expect(done).toEqual(["picked_up", "picked_up", "picked_up", "picked_up", "launch", "instance_spawned"]);
});

test("a node that was frozen before the launch does not repeat what another one ran", async () => {
  const ended = await launched({ answers: [proceed, { proceed: false }], frozenMs: 60_000 });
  expect(ended.done).toEqual(["picked_up", "picked_up", "remove"]);
  expect(ended.end).toEqual(notStarted);
  const running = await launched({ answers: [proceed], frozenMs: 60_000, later: "running" });
  expect(running.done).toEqual(["picked_up", "picked_up", "instance_spawned"]);
});

test("an instance whose launch took long ends at once where it is not wanted", async () => {
  const late = await launched({ answers: [proceed, { proceed: false }], frozenMs: 0, launchMs: 60_000 });
  expect(late.done).toEqual(["picked_up", "launch", "picked_up", "remove"]);
  expect(late.end).toEqual(notStarted);
  const wanted = await launched({ answers: [proceed], frozenMs: 0, launchMs: 60_000, later: "running" });
  expect(wanted.done).toEqual(["picked_up", "launch", "picked_up", "instance_spawned"]);
});

test("what another host was told to launch is not launched under the same id", async () => {
  const told = await launched({ answers: [proceed], frozenMs: 0, movedFrom: "running" });
  expect(told.done).toEqual(["picked_up"]);
  expect(told.end).toMatchObject({ reason: "lost" });
  const untold = await launched({ answers: [proceed], frozenMs: 0, movedFrom: "waiting" });
  expect(untold.done).toEqual(["picked_up", "launch", "instance_spawned"]);
});
