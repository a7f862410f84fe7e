import { expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Arrival, Stimulus } from "../../../actors/stimulus/stimulus.ts";
import { createArrivingBodies } from "../../../src/features/stimuli/intake/arriving-bodies.ts";
import { watchBacklog } from "../../../src/features/stimuli/intake/backlog.ts";
import { createBodyBudget, withinBudget } from "../../../src/features/stimuli/intake/body-budget.ts";
import { watchSettled } from "../../../src/features/stimuli/intake/processing/settled-watch.ts";
import { createWorker, type WorkerOptions } from "../../../src/features/stimuli/intake/processing/worker.ts";
import { until } from "../../harness/until.ts";

function startWorker(options: Omit<WorkerOptions, "waits">) {
  const worker = createWorker({ ...options, waits: () => true });
  worker.start();
  return worker;
}

test("a tenant's backlog is counted together with what this node added since", async () => {
  let clock = 0;
  const counts = new Map([["full", 9]]);
  const backlog = watchBacklog(
    async (tenants) => new Map(tenants.flatMap((tenant) => [[tenant, counts.get(tenant) ?? 0]])),
    () => clock,
    10,
  );
  await backlog.require("full");
  backlog.added("full");
  const refusal = await backlog.require("full").catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Problem);
  expect(refusal).toMatchObject({ code: "backlog_full", status: 503, headers: { "Retry-After": "5" } });
  await backlog.require("empty");
  counts.set("full", 3);
  clock += 250;
  await backlog.require("full");
});

test("past their budget the oldest unfinished body of the largest client gives way", () => {
  const arriving = createArrivingBodies(100, 60, 10);
  const given: string[] = [];
  const begin = (client: string, name: string) => arriving.begin(client, () => given.push(name));
  const slow = Array.from({ length: 5 }, (_, index) => begin("a", `slow-${index}`));
  // What has not arrived, and the first bytes of each, are not counted.
  for (const body of slow) body.arrived(10);
  for (const body of slow) body.arrived(10);
  begin("a", "right").arrived(30);
  expect(given).toEqual(["slow-0"]);
  // One that was given up counts for nothing more.
  slow[0]?.arrived(1000);
  slow[0]?.end();
  begin("b", "other").arrived(60);
  expect(given).toEqual(["slow-0", "slow-1"]);
  // A body gives way to others, not to itself.
  expect(() => begin("c", "huge").arrived(80)).toThrow(Problem);
  expect(given).toEqual(["slow-0", "slow-1"]);
});

test("bytes of deliveries being routed are bounded per tenant and always given back", async () => {
  const answers: PromiseWithResolvers<never>[] = [];
  const intake = withinBudget(
    () => {
      const answer = Promise.withResolvers<never>();
      answers.push(answer);
      return answer.promise;
    },
    createBodyBudget(100, 60, 0),
  );
  const deliver = (tenant: string, content: string) =>
    intake({ tenant, content } as Arrival).catch((error: unknown) => error);
  const first = deliver("large", "x".repeat(50));
  expect(await deliver("large", "x".repeat(50))).toMatchObject({ code: "stimulus_service_unavailable", status: 503 });
  void deliver("other", "x".repeat(50));
  answers[0]?.reject(new Error("refused"));
  await first;
  void deliver("large", "x".repeat(50));
  expect(answers).toHaveLength(3);
});

const stimulus = (tenant: string, id: number) => ({ tenant, id: String(id) }) as unknown as Stimulus;

test("the worker passes over a tenant with slow stimuli and finishes what it began", async () => {
  const waiting = [...Array.from({ length: 200 }, (_, id) => stimulus("slow", id)), stimulus("quick", 200)];
  const processed: string[] = [];
  const release = Promise.withResolvers<void>();
  const worker = startWorker({
    due: async (limit, except) => {
      const taken = waiting.filter(({ tenant }) => !except.includes(tenant)).slice(0, limit);
      for (const one of taken) waiting.splice(waiting.indexOf(one), 1);
      return taken;
    },
    processStimulus: async ({ tenant }) => {
      if (tenant === "slow") await release.promise;
      processed.push(tenant);
      return { kind: "retried" } as const;
    },
    accepting: () => 0,
    report: () => {},
    now: () => 0,
  });
  await until(() => processed.includes("quick"), { what: "the other tenant's to be processed" });
  expect(processed).toEqual(["quick"]);
  release.resolve();
  await until(() => processed.length === 201, { what: "all to be processed" });
  await worker.close();
});

test("of one tenant a few mebibytes of contents are processed side by side", async () => {
  const large = Array.from({ length: 40 }, (_, id) => ({ ...stimulus("large", id), contentSize: 1_048_576 }));
  let [underWay, most, done] = [0, 0, 0];
  const worker = startWorker({
    due: async (_limit, except) => (except.includes("large") ? [] : large.splice(0, 1)),
    processStimulus: async () => {
      most = Math.max(most, ++underWay);
      await Bun.sleep(1);
      underWay--;
      done++;
      return { kind: "retried" } as const;
    },
    accepting: () => 0,
    report: () => {},
    now: () => 0,
  });
  await until(() => done === 40, { what: "all to be processed" });
  expect(most).toBeLessThanOrEqual(4);
  await worker.close();
});

test("several tenants whose stimuli take long do not keep another one's waiting", async () => {
  const waiting = Array.from({ length: 1_000 }, (_, id) => stimulus(`slow ${id % 5}`, id));
  waiting.push(stimulus("quick", 1_000));
  const processed: string[] = [];
  const release = Promise.withResolvers<void>();
  const worker = startWorker({
    due: async (limit, except) => {
      const taken = waiting.filter(({ tenant }) => !except.includes(tenant)).slice(0, limit);
      for (const one of taken) waiting.splice(waiting.indexOf(one), 1);
      return taken;
    },
    processStimulus: async ({ tenant }) => {
      if (tenant !== "quick") await release.promise;
      processed.push(tenant);
      return { kind: "retried" } as const;
    },
    accepting: () => 0,
    report: () => {},
    now: () => 0,
  });
  await until(() => processed.includes("quick"), { what: "the other tenant's to be processed" });
  release.resolve();
  await until(() => processed.length === 1_001, { what: "all to be processed" });
  await worker.close();
});

test.each([
  ["goes first while it is a burst", 1_000, 8],
  ["shares the node once what was taken in has waited for seconds", 6_000, 64],
])("taking deliveries in %s", async (_, waited, limit) => {
  const limits: number[] = [];
  const worker = startWorker({
    due: async (most) => {
      limits.push(most);
      // A query takes its time.
      await Bun.sleep(1);
      return [{ ...stimulus("busy", limits.length), attempts: 1, receivedAt: 0 } as Stimulus];
    },
    processStimulus: async () => ({ kind: "retried" }) as const,
    accepting: () => 64,
    report: () => {},
    now: () => waited,
  });
  await until(() => limits.length >= 3, { what: "the third round" });
  await worker.close();
  expect(limits.slice(0, 3)).toEqual([8, limit, limit]);
});

test("a waiting request wakes by this node, by another node's notice, or by time", async () => {
  const open = new Set(["far", "late"]);
  const watch = watchSettled(async (asked) => new Set(asked.map(({ id }) => id).filter((id) => open.has(id))));
  const waits = (id: string, timeoutMs: number) => watch.wait({ tenant: "t", id }, timeoutMs);
  open.add("near");
  const near = waits("near", 60_000);
  watch.settled({ id: "near" });
  await near;
  const far = waits("far", 60_000);
  open.delete("far");
  await far;
  await waits("late", 50);
  watch.close();
});
