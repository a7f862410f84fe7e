/** Targets and policies as people write them (docs/reference/edge-fleet.md). */
import { expect, test } from "bun:test";
import { batchOf, concurrency, isFailed, readPolicy, retryPolicy } from "../../../actors/edge/policy.ts";
import { isEffective, readTarget } from "../../../actors/edge/target.ts";
import { Problem } from "../../../actors/kernel/problem.ts";

const id = "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90";
const none = { os: null, arch: null, tools: [], labels: [], tags: [] };
const refused = (read: () => unknown): string => {
  try {
    return JSON.stringify(read());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.extras.issues as { path: string }[])[0]?.path ?? "?";
  }
};

test.each([
  [[{ Node: id.toUpperCase() }, { kind: "node", node_id: id }, { NODE: id }], { Node: id }],
  [[{ Nodes: [id, id] }, { kind: "Nodes", node_ids: [id] }], { Nodes: [id] }],
  [[{ Group: id }, { kind: "group", group_id: id }], { Group: id }],
  [[{ group: " web " }, { kind: "group", group_name: "web" }], { Group: "web" }],
  [["All", "all", { All: null }, { ALL: {} }, { kind: "all" }], { All: null }],
  [
    [
      { Selector: { os: "darwin" } },
      { kind: "selector", os: "macos" },
      { kind: "selector", selector: { OS: "macos" } },
    ],
    { Selector: { ...none, os: "macos" } },
  ],
])("a target in all its forms: %#", (forms, read) => {
  for (const form of forms) expect([form, readTarget(form)]).toEqual([form, read as never]);
});

test.each([
  [{ Nod: id }, "target.Nod"],
  [{ Node: "x" }, "target.Node"],
  [{ Node: id, Nodes: [] }, "target"],
  [{ Nodes: [id, "x"] }, "target.Nodes.1"],
  [{ kind: "node" }, "target.node_id"],
  [{ kind: "node", node: id }, "target.node"],
  [{ kind: "group", group_id: id, group_name: "x" }, "target.groupname"],
  [{ Selector: { osx: "linux" } }, "target.Selector.osx"],
  ["selector", "target"],
  [{ All: { os: "linux" } }, "target.All.os"],
  [null, "target"],
  [[], "target"],
  ["everything", "target"],
])("a target that means nothing is refused: %#", (form, path) => {
  expect(refused(() => readTarget(form)).toLowerCase()).toStartWith(
    path.toLowerCase().replace("groupname", "group_name"),
  );
});

test("a selector that leaves no host out has no effect", () => {
  const effective = (selector: object) => isEffective({ ...none, ...selector });
  expect([{}, { tags: [{ NoneOf: [] }, { AllOf: [] }] }].map(effective)).toEqual([false, false]);
  expect(
    [{ os: "linux" }, { tools: ["sh"] }, { tags: [{ AnyOf: [] }] }, { labels: [{ Exists: "k" }] }].map(effective),
  ).toEqual([true, true, true, true]);
});

test("a policy has its defaults", () => {
  expect(readPolicy(undefined)).toEqual({
    ...{ mode: "Sequential", max_concurrency: 1, failure_policy: "FailFast", require_min_targets: null },
    ...{ per_target_deadline_secs: 60, run_deadline_secs: null, canary: null, canary_soak_secs: 0 },
    ...{ pause_after_canary: false, retries: 0, retry_on: ["err", "timed_out"], retry_delay_secs: 0 },
    ...{ offline_ttl_secs: 0, disconnect_grace_secs: 120, approval: false, approval_timeout_secs: 3600 },
    max_output_bytes: 1_048_576,
  });
});

test("words in any spelling, numbers beside them, what is nested first", () => {
  const forms = [
    { mode: { Rolling: { batch: 3 } } },
    { mode: "rolling", batch: 3 },
    { mode: { kind: "Rolling", batch: 3 } },
    { Mode: { rolling: 3 } },
  ];
  for (const form of forms) expect(readPolicy(form).mode).toEqual({ Rolling: { batch: 3 } });
  const top = {
    mode: "ROLLING",
    batch: "50%",
    failure_policy: "stop-after",
    n: 2,
    canary: 1,
    target: "all",
    retries: 1,
  };
  expect(readPolicy({ canary: "10%", deadline_secs: 5 }, top)).toMatchObject({
    ...{ mode: { Rolling: { batch: "50%" } }, failure_policy: { StopAfter: 2 }, canary: "10%", retries: 1 },
    ...{ per_target_deadline_secs: 5, max_concurrency: null },
  });
  expect(
    readPolicy({ failure_policy: { stop_after_percent: 20 }, retry_on: ["TimedOut", "lost", "LOST"] }),
  ).toMatchObject({
    failure_policy: { StopAfterPercent: 20 },
    retry_on: ["timed_out", "lost"],
  });
  expect(readPolicy({ mode: "sequential", max_concurrency: 9 }).max_concurrency).toBe(1);
});

test.each([
  [{ max_concurrncy: 3 }, "policy.max_concurrncy"],
  [{ max_concurrency: 1001 }, "policy.max_concurrency"],
  [{ max_concurrency: 0 }, "policy.max_concurrency"],
  [{ mode: "rolling" }, "policy.mode.batch"],
  [{ mode: { Rolling: { batch: 10_001 } } }, "policy.mode.Rolling.batch"],
  [{ mode: { Rolling: { batch: "0%" } } }, "policy.mode.Rolling.batch"],
  [{ mode: { Rolling: { batch: "101%" } } }, "policy.mode.Rolling.batch"],
  [{ mode: { Rolling: { size: 3 } } }, "policy.mode.Rolling.size"],
  [{ batch: 3 }, "policy.batch"],
  [{ n: 3 }, "policy.n"],
  [{ failure_policy: { StopAfter: 0 } }, "policy.failure_policy.StopAfter"],
  [{ failure_policy: { StopAfterPercent: 101 } }, "policy.failure_policy.StopAfterPercent"],
  [{ failure_policy: "stop_after" }, "policy.failure_policy.n"],
  [{ retries: 4 }, "policy.retries"],
  [{ retry_on: ["ok"] }, "policy.retry_on.0"],
  [{ offline_ttl_secs: 604_801 }, "policy.offline_ttl_secs"],
  [{ approval: "yes" }, "policy.approval"],
  [{ approval_timeout_secs: 59 }, "policy.approval_timeout_secs"],
  [{ max_output_bytes: 1023 }, "policy.max_output_bytes"],
  [{ per_target_deadline_secs: 1.5 }, "policy.per_target_deadline_secs"],
  [[], "policy"],
])("a policy that is none is refused: %#", (policy, path) => {
  expect(refused(() => readPolicy(policy))).toBe(path);
});

test("a retry takes a number in place of the former one, with its word", () => {
  const former = readPolicy({ mode: { Rolling: { batch: 2 } }, failure_policy: { StopAfterPercent: 10 }, retries: 1 });
  expect(retryPolicy(former, undefined)).toEqual(former);
  expect(retryPolicy(former, { mode: null, retries: 2 })).toEqual({ ...former, retries: 2 });
  expect(retryPolicy(former, { Batch: 5, n: 20 })).toEqual({
    ...former,
    ...{ mode: { Rolling: { batch: 5 } }, max_concurrency: 5, failure_policy: { StopAfterPercent: 20 } },
  });
  expect(retryPolicy(former, { mode: "Parallel" })).toEqual({ ...former, mode: "Parallel", max_concurrency: 1000 });
  expect(refused(() => retryPolicy(readPolicy({ mode: "Parallel" }), { batch: 5 }))).toBe("policy.batch");
  expect(refused(() => retryPolicy(readPolicy({}), { n: 5 }))).toBe("policy.n");
});

test("shares are rounded up, thresholds are met exactly", () => {
  expect(["1%", "25%", "100%"].map((batch) => batchOf({ Rolling: { batch } }, 5))).toEqual([1, 2, 5]);
  expect(concurrency(readPolicy({ mode: { Rolling: { batch: "100%" } } }), 5000)).toBe(1000);
  const percent = { StopAfterPercent: 20 };
  expect([1, 2].map((failed) => isFailed(percent, failed, 10))).toEqual([false, true]);
  expect([0, 1].map((failed) => isFailed("FailFast", failed, 10))).toEqual([false, true]);
  expect([2, 3].map((failed) => isFailed({ StopAfter: 3 }, failed, 10))).toEqual([false, true]);
  expect(isFailed("ContinueOnError", 10, 10)).toBe(false);
});
