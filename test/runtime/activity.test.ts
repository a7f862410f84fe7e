/** Activities: outcomes, repeats, giving up, waiting in line, and whose work it is after a crash. */
import { expect, test } from "bun:test";
import { type ActivityContext, Retryable, Terminal } from "../../src/runtime/index.ts";
import { encodeEnvelope } from "../../src/runtime/mailbox/envelope.ts";
import { runtimeKeys } from "../../src/runtime/mailbox/partition.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { counter } from "../harness/runtime/counter.ts";
import type { TestRuntime } from "../harness/runtime/runtime.ts";
import { until } from "../harness/until.ts";
import { activity, at, gate, Harness, stateOf } from "./harness.ts";

const harness = new Harness();

const perform = (runtime: TestRuntime, key: string, name: string, id: string, tenant = "acme") =>
  runtime.ask(at(key, tenant), "work", { activity: name, id, input: id });

async function outcome(runtime: TestRuntime, key: string): Promise<string> {
  return await until(async () => (await stateOf(runtime, key))?.outcomes.at(-1), { what: `the outcome for ${key}` });
}

const remaining = async () =>
  (await harness.stores.sql<{ id: string }[]>`select id from runtime_activities order by id`).map(({ id }) => id);

/** A row as a node that died left it: it ran there, on that host. */
async function leftBehind(
  id: string,
  name: string,
  options: { host?: string; hostBound?: boolean; abandoned?: boolean; suspects?: readonly string[] } = {},
): Promise<void> {
  await harness.stores.sql`
    insert into runtime_activities
      (id, kind, key, tenant, name, input, reply_type, node, host, host_bound, abandoned, suspects)
    values (${id}, 'counter', 'a', 'acme', ${name}, '"left"', 'worked', 'dead node', ${options.host ?? "host-1"},
      ${options.hostBound ?? false}, ${options.abandoned ?? false}, ${[...(options.suspects ?? [])]})`;
}

/** A node of another machine, which runs nothing. */
const enter = (id: string, heard: "lately" | "long ago") => harness.stores.sql`
  insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at, acknowledges)
  values (${id}, 'elsewhere', 'elsewhere', 1, now() + ${heard === "lately" ? "1 hour" : "-1 hour"}::interval, true)`;

test("the error's type decides about repeats", async () => {
  const attempts: Record<string, [at: number, attempt: number, resumed: boolean][]> = {};
  const noting = (name: string, run: (context: ActivityContext) => void) =>
    activity(name, async (_input, context) => {
      attempts[name] = [...(attempts[name] ?? []), [performance.now(), context.attempt, context.resumed]];
      run(context);
      return "done";
    });
  const { runtime } = await harness.node({
    activities: [
      noting("fine", () => {}),
      noting("terminal", () => {
        throw new Terminal("broken", "cannot help");
      }),
      noting("later", ({ attempt }) => {
        if (attempt === 1) throw new Retryable("come back", 150);
      }),
      noting("always", () => {
        throw new Error("bad luck");
      }),
    ],
  });
  for (const name of ["fine", "terminal", "later", "always"]) await perform(runtime, name, name, `id-${name}`);
  expect(await outcome(runtime, "fine")).toBe("id-fine:true");
  expect(await outcome(runtime, "terminal")).toBe("id-terminal:false");
  expect(await outcome(runtime, "later")).toBe("id-later:true");
  expect(await outcome(runtime, "always")).toBe("id-always:false");
  expect(attempts.fine).toHaveLength(1);
  expect(attempts.terminal).toHaveLength(1);
  expect(attempts.later?.map(([, attempt, resumed]) => [attempt, resumed])).toEqual([
    [1, false],
    [2, true],
  ]);
  expect((attempts.later?.[1]?.[0] ?? 0) - (attempts.later?.[0]?.[0] ?? 0)).toBeGreaterThanOrEqual(149);
  expect(attempts.always?.map(([, attempt]) => attempt)).toEqual([1, 2, 3]);
  // Doubling with jitter: at least half of 20 and of 40 ms.
  expect((attempts.always?.[2]?.[0] ?? 0) - (attempts.always?.[0]?.[0] ?? 0)).toBeGreaterThanOrEqual(29);
  await until(async () => (await remaining()).length === 0, { what: "no row to remain" });
});

test("an activity talks to its actor while it runs", async () => {
  const { runtime } = await harness.node({
    activities: [
      activity("talk", async (_input, context) => {
        const actor = context.of(counter);
        await actor.tell("add", { label: `told by ${context.actor.key}` });
        return await actor.ask("add", { label: "asked" });
      }),
    ],
  });
  await perform(runtime, "a", "talk", "id");
  expect(await outcome(runtime, "a")).toBe("id:true");
  // What an activity asks may overtake what it told before.
  expect((await stateOf(runtime, "a"))?.seen.toSorted()).toEqual(["asked", "told by a"]);
});

test("what waits for an outcome to be taken in is done after its commit, not before", async () => {
  let taken = 0;
  let ended = 0;
  const { runtime } = await harness.node({
    activities: [
      activity("kept", async (_input, { attempt, onceTaken }) => {
        onceTaken(() => void taken++);
        if (attempt === 1) throw new Error("not this one");
        ended++;
        return "done";
      }),
    ],
  });
  const { sql } = harness.stores;
  await sql.begin(async (tx) => {
    await perform(runtime, "a", "kept", "id");
    await tx`select 1 from runtime_partitions for update`;
    await until(() => ended === 1, { what: "the end of the work" });
    const asked = Date.now();
    await until(async () => Date.now() - asked > 1500 && (await remaining()).length === 1, { what: "some looks" });
    expect(taken).toBe(0);
  });
  await until(() => taken > 0, { what: "the commit to be noticed" });
  expect(taken).toBe(1);
  expect(await remaining()).toEqual([]);
});

test("work given up while it runs is told so; its outcome is not taken in", async () => {
  const reasons: unknown[] = [];
  const { runtime } = await harness.node({
    activities: [
      activity(
        "long",
        (_input, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              resolve("late");
            });
          }),
      ),
    ],
  });
  await perform(runtime, "a", "long", "id");
  await until(() => runtime.counts().activitiesRunning === 1);
  await runtime.ask(at("a"), "giveUp", { id: "id" });
  await until(() => reasons.length > 0 && runtime.counts().activitiesRunning === 0, { what: "the work to end" });
  await until(async () => (await remaining()).length === 0, { what: "no row to remain" });
  expect(reasons).toEqual(["abandoned"]);
  expect((await stateOf(runtime, "a"))?.outcomes).toEqual([]);
});

test("work given up in line never begins", async () => {
  const began: string[] = [];
  const door = gate();
  const { runtime } = await harness.node({
    activities: [
      activity(
        "one",
        async (input) => {
          began.push(String(input));
          await door.passed;
          return null;
        },
        { concurrency: 1 },
      ),
    ],
  });
  for (const id of ["w1", "w2", "w3"]) await perform(runtime, id, "one", id);
  await until(() => runtime.counts().activitiesWaiting === 2);
  await runtime.ask(at("w2"), "giveUp", { id: "w2" });
  await until(() => runtime.counts().activitiesWaiting === 1);
  door.open(undefined);
  expect(await outcome(runtime, "w3")).toBe("w3:true");
  expect(began).toEqual(["w1", "w3"]);
  expect((await stateOf(runtime, "w2"))?.outcomes).toEqual([]);
  await until(async () => (await remaining()).length === 0, { what: "no row to remain" });
});

test("work given up after its node died is cleaned up by the node that adopts it", async () => {
  const calls: [aborted: boolean, reason: unknown, resumed: boolean][] = [];
  const cleaning = activity("cleaning", async (_input, { signal, resumed }) => {
    calls.push([signal.aborted, signal.reason, resumed]);
    return "ignored";
  });
  await leftBehind("left", "cleaning", { abandoned: true });
  const { runtime } = await harness.node({ activities: [cleaning] });
  await until(async () => (await remaining()).length === 0, { what: "the row to go" });
  expect(calls).toEqual([[true, "abandoned", true]]);
  expect(await stateOf(runtime, "a")).toBeNull();
});

test("an outcome that comes after its work was given up is dropped and ends the work", async () => {
  const { runtime } = await harness.node({ partitions: 1 });
  const redis = openRedis(harness.stores.redisUrl);
  const outcome = (id: string) =>
    redis.xadd(
      runtimeKeys(harness.stores.prefix).mailbox(0),
      "*",
      "m",
      encodeEnvelope({
        source: `n${id}`,
        sequence: 1,
        ...at("a"),
        type: "worked",
        body: { id, ok: true },
        replyTo: null,
        activity: id,
        fresh: false,
      }),
    );
  await leftBehind("given up", "elsewhere", { abandoned: true });
  await leftBehind("wanted", "elsewhere");
  for (const id of ["given up", "wanted", "unknown"]) await outcome(id);
  await runtime.ask(at("a"), "add", {});
  expect((await stateOf(runtime, "a"))?.outcomes).toEqual(["wanted:true"]);
  expect(await remaining()).toEqual([]);
  redis.disconnect();
});

test("waiting too long for a slot fails the work with queue_timeout", async () => {
  const door = gate();
  const { runtime } = await harness.node({
    activities: [activity("narrow", async () => (await door.passed) ?? null, { concurrency: 1, queueTimeoutMs: 100 })],
  });
  await perform(runtime, "a", "narrow", "first");
  await perform(runtime, "b", "narrow", "second");
  expect(await outcome(runtime, "b")).toBe("second:false");
  door.open(undefined);
  expect(await outcome(runtime, "a")).toBe("first:true");
});

test("work that stands still gives its slot to others, and takes one again in its turn", async () => {
  const order: string[] = [];
  const [parked, answered, second] = [gate(), gate(), gate()];
  const { runtime } = await harness.node({
    activities: [
      activity(
        "one",
        async (input, { slot }) => {
          order.push(`${String(input)} begins`);
          if (input === "w1") {
            await parked.passed;
            slot.giveBack();
            slot.giveBack();
            await answered.passed;
            await slot.takeAgain();
            await slot.takeAgain();
          } else if (input === "w2") await second.passed;
          order.push(`${String(input)} ends`);
          return null;
        },
        { concurrency: 1, queueTimeoutMs: 300 },
      ),
    ],
  });
  await perform(runtime, "w1", "one", "w1");
  await until(() => order.length === 1);
  parked.open(undefined);
  await perform(runtime, "w2", "one", "w2");
  await until(() => order.length === 2, { what: "the second to have the slot" });
  answered.open(undefined);
  await until(() => runtime.counts().activitiesWaiting === 1, { what: "the first to wait for a slot" });
  // Longer than work may wait that has not begun.
  await Bun.sleep(500);
  second.open(undefined);
  expect(await outcome(runtime, "w1")).toBe("w1:true");
  expect(order).toEqual(["w1 begins", "w2 begins", "w2 ends", "w1 ends"]);
  await perform(runtime, "w3", "one", "w3");
  expect(await outcome(runtime, "w3")).toBe("w3:true");
});

test("slots go to the tenants in turn", async () => {
  const order: string[] = [];
  const door = gate();
  const { runtime } = await harness.node({
    activities: [
      activity(
        "fair",
        async (_input, { actor }) => {
          order.push(actor.tenant);
          if (order.length === 1) await door.passed;
          return null;
        },
        { concurrency: 1 },
      ),
    ],
  });
  for (let index = 0; index < 6; index++) await perform(runtime, `big-${index}`, "fair", `big-${index}`, "big");
  for (const tenant of ["small", "tiny"]) await perform(runtime, tenant, "fair", tenant, tenant);
  await until(() => runtime.counts().activitiesWaiting === 7);
  door.open(undefined);
  await until(() => order.length === 8);
  expect(order.slice(0, 5)).toEqual(["big", "big", "small", "tiny", "big"]);
});

test("work bound to a host waits for it, and goes elsewhere only when it stays away", async () => {
  const ran: string[] = [];
  const moved: string[] = [];
  const bound = activity(
    "bound",
    async (_input, context) => {
      ran.push(context.id);
      if (context.moved) moved.push(context.id);
      return null;
    },
    { hostBound: true },
  );
  await leftBehind("here", "bound", { host: "host-1", hostBound: true });
  await leftBehind("there", "bound", { host: "host-2", hostBound: true });
  await leftBehind("anywhere", "bound", { host: "host-2" });
  const { runtime } = await harness.node({ activities: [bound], orphanAfterMs: 60_000 });
  await until(() => ran.length === 2, { what: "the work of this host" });
  expect(ran.sort()).toEqual(["anywhere", "here"]);
  // Several looks later it is still untouched.
  await runtime.ask(at("t"), "wakeAt", { timer: "t", at: Date.now() + 700 });
  await until(async () => (await stateOf(runtime, "t"))?.seen.length, { what: "some looks at the table" });
  expect(await remaining()).toEqual(["there"]);
  await harness.stores.sql`update runtime_activities set created_at = now() - interval '61 seconds'`;
  await until(() => ran.includes("there"), { what: "the orphaned work" });
  expect(moved.sort()).toEqual(["anywhere", "there"]);
});

test("recorded work its node never learnt of begins; work taken over is left alone", async () => {
  const ran: string[] = [];
  const reasons: unknown[] = [];
  const { runtime } = await harness.node({
    activities: [
      activity("plain", async (_input, { id }) => {
        ran.push(id);
        return null;
      }),
      activity(
        "held",
        (_input, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              resolve(null);
            });
          }),
      ),
    ],
  });
  await leftBehind("unheard", "plain");
  await harness.stores.sql`update runtime_activities set node = ${runtime.nodeId} where id = 'unheard'`;
  await until(() => ran.includes("unheard"), { what: "the work to begin" });
  await perform(runtime, "b", "held", "taken");
  await until(() => runtime.counts().activitiesRunning === 1);
  await harness.stores
    .sql`insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at) values ('other', 'host-1', '', 1, now() + interval '1 minute')`;
  await harness.stores.sql`update runtime_activities set node = 'other' where id = 'taken'`;
  await until(() => reasons.length > 0, { what: "the work to be left to the other node" });
  expect(reasons).toEqual(["draining"]);
  expect(await remaining()).toEqual(["taken"]);
  expect(ran).toEqual(["unheard"]);
});

test.each<[string, "lately" | "long ago" | null, string]>([
  ["that have ended", null, "id:false"],
  ["that were silent for long", "long ago", "id:false"],
  ["that came back", "lately", "id:true"],
])("work that began on two nodes %s, and on one that ended, is begun again or fails", async (_, heard, expected) => {
  if (heard !== null) await Promise.all([enter("first", heard), enter("second", heard)]);
  await leftBehind("id", "fine", { suspects: ["first", "second"] });
  const { runtime } = await harness.node({ activities: [activity("fine", () => Promise.resolve("done"))] });
  expect(await outcome(runtime, "a")).toBe(expected);
});

test("a node that was taken for dead and lives is no death of its work", async () => {
  const reasons: unknown[] = [];
  const { runtime } = await harness.node({
    activities: [
      activity("long", async (_input, { signal }) => {
        // Work under way until it is told to end.
        while (!signal.aborted) await Bun.sleep(10);
        reasons.push(signal.reason);
        return "late";
      }),
    ],
  });
  await enter("other", "lately");
  await perform(runtime, "a", "long", "id");
  const { sql } = harness.stores;
  await sql`
    update runtime_activities set node = 'other', takeovers = 2, deaths = 2, suspects = ${["ended", runtime.nodeId]}`;
  const [row] = await until(
    async () => {
      const rows = await sql<{ suspects: string[]; takeovers: number; deaths: number }[]>`
        select suspects, takeovers, deaths from runtime_activities`;
      return rows[0]?.takeovers === 1 && reasons.length > 0 ? rows : undefined;
    },
    { what: "the node to see it" },
  );
  expect(row).toEqual({ suspects: ["ended"], takeovers: 1, deaths: 1 });
  expect(reasons).toEqual(["draining"]);
});
