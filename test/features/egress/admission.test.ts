import { afterEach, describe, expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import { createAdmission, type InstanceAdmission } from "../../../src/features/egress/admission.ts";
import { fakeRuntime } from "../../harness/runtime/fake-runtime.ts";
import { until } from "../../harness/until.ts";

/** As much of an execution as is looked at. */
const facts = { status: "running", phase: "running", instance: "i", away: false, reads: 0 };
/** A workflow's run instead of an execution, as much of it as is looked at. */
const run: { state: unknown } = { state: null };
const reported: unknown[] = [];
let admission: InstanceAdmission | null = null;
afterEach(() => {
  admission?.stop();
  Object.assign(facts, { status: "running", phase: "running", instance: "i", away: false, reads: 0 });
  run.state = null;
  reported.length = 0;
});

function stored() {
  facts.reads += 1;
  if (facts.away) throw new Error("the store is away");
  const iteration = { phase: facts.phase, instance_id: facts.instance };
  return { status: facts.status, header: { agent_id: "a" }, iteration };
}

function open(network: unknown = { mode: "allow", allowlist: [], denylist: [] }, openEgress = true): InstanceAdmission {
  admission = createAdmission({
    further: [],
    tokens: {
      verify: async (token) => {
        if (token !== "good") throw new Problem("invalid_token", "no");
        return { executionId: "e", tenant: "t", instanceId: "i" };
      },
    },
    runtime: fakeRuntime({
      state: ({ kind }) => (kind === "execution" ? (run.state === null ? stored() : null) : run.state),
    }),
    plans: { of: async () => ({ network }) as never },
    openEgress,
    report: (subject, traffic) => reported.push([subject.executionId, traffic]),
  });
  return admission;
}
const basic = (text: string, scheme = "Basic") => `${scheme} ${Buffer.from(text).toString("base64")}`;

test("good credentials of a running instance", async () => {
  const subject = await open().admit(basic("svc:good"));
  expect(subject).toMatchObject({ executionId: "e", tenant: "t", instanceId: "i", agentId: "a" });
  expect(subject?.policy.reach).toBe("public");
  expect(await open().admit(basic("svc:good", "bAsIc"))).not.toBeNull();
});

test.each([
  basic("svc:bad"),
  basic("other:good"),
  basic("good"),
  basic("svc:"),
  basic("svc:good", "Bearer"),
  "Basic",
  "Basic !!!",
  "",
  `Basic ${"A".repeat(20_000)}`,
])("%p is unknown", async (authorization) => {
  expect(await open().admit(authorization)).toBeNull();
});

test.each([
  ["pending", { status: "pending" }],
  ["over", { status: "completed" }],
  ["waiting for its slot", { phase: "waiting" }],
  ["being judged", { phase: "validating" }],
  ["another instance's", { instance: "j" }],
])("an execution that is %s admits no connection", async (_, change) => {
  Object.assign(facts, change);
  expect(await open().admit(basic("svc:good"))).toBeNull();
});

test("an answer is reused for half a second by all connections", async () => {
  const opened = open();
  await Promise.all(Array.from({ length: 50 }, () => opened.admit(basic("svc:good"))));
  expect(facts.reads).toBe(1);
  facts.status = "cancelled";
  await until(async () => (await opened.admit(basic("svc:good"))) === null, { timeoutMs: 1_900 });
});

test("connections end with the instance; their bytes are told when the last closes", async () => {
  const opened = open();
  const subject = await opened.admit(basic("svc:good"));
  if (subject === null) throw new Error("not admitted");
  const cut: number[] = [];
  const seats = [1, 2].map((number) => opened.enter(subject, () => cut.push(number)));
  expect(opened.connections()).toBe(2);
  facts.away = true;
  await until(() => facts.reads > 1);
  expect(cut).toEqual([]);
  facts.away = false;
  facts.instance = "j";
  await until(() => cut.length > 0, { timeoutMs: 1_000 });
  expect(cut).toEqual([1, 2]);
  for (const seat of seats) {
    seat?.count(10, 20);
    seat?.leave();
    seat?.leave();
  }
  expect(reported).toEqual([["e", { sent: 20, received: 40 }]]);
});

test("an instance has so many connections and no more", async () => {
  const opened = open();
  const subject = await opened.admit(basic("svc:good"));
  if (subject === null) throw new Error("not admitted");
  const seats = Array.from({ length: 65 }, () => opened.enter(subject, () => {}));
  expect(seats.filter((seat) => seat === null)).toHaveLength(1);
  seats[0]?.leave();
  expect(opened.enter(subject, () => {})).not.toBeNull();
});

test("a node that was closed closes what was open before", async () => {
  expect((await open(undefined, false).admit(basic("svc:good")))?.policy.reach).toBe("nothing");
  const listed = { mode: "allow", allowlist: ["a.example"], denylist: [] };
  expect((await open(listed, false).admit(basic("svc:good")))?.policy.reach).toBe("listed");
});

describe("commands of a workflow's run", () => {
  const step = (activity: string, result: unknown) => ({ name: "s", activity, result });
  const running = (work: unknown) => ({ status: "running", current: { work } });
  const one = (activity: string, result: unknown = null) => ({ of: "command", activity, result, children: [] });

  test("may reach every public host for as long as the run works with them", async () => {
    run.state = running(one("command:i"));
    const opened = open();
    const subject = await opened.admit(basic("svc:good"));
    expect(subject).toMatchObject({ executionId: "e", tenant: "t", instanceId: "i", agentId: null });
    expect(subject?.policy.reach).toBe("public");
    if (subject === null) throw new Error("not admitted");
    const cut: number[] = [];
    opened.enter(subject, () => cut.push(1));
    run.state = running(one("command:i", {}));
    await until(() => cut.length > 0, { timeoutMs: 1_500 });
    expect(await opened.admit(basic("svc:good"))).toBeNull();
  });

  test("reach nothing where the node opens nothing", async () => {
    run.state = running(one("command:i"));
    expect((await open(undefined, false).admit(basic("svc:good")))?.policy.reach).toBe("nothing");
  });

  test.each([
    [
      "one of several steps",
      running({ of: "commands", steps: [step("command:x", {}), step("command:i", null)] }),
      true,
    ],
    [
      "a step that is done",
      running({ of: "commands", steps: [step("command:i", {}), step("command:x", null)] }),
      false,
    ],
    ["another command", running(one("command:x")), false],
    ["between two states", { status: "running", current: null }, false],
    ["another kind of work", running({ of: "human", approval_id: "i", expires_at: 1 }), false],
    ["a run that is over", { status: "cancelled", current: { work: one("command:i") } }, false],
  ])("%s", async (_, state, admitted) => {
    run.state = state;
    expect((await open().admit(basic("svc:good"))) !== null).toBe(admitted);
  });
});
