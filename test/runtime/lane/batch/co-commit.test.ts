/** Co-commit: the receiver's turn is part of the sender's commit, or its message goes through the outbox. */

import { expect, test } from "bun:test";
import {
  MessageRejected,
  type Projection,
  type RuntimeOptions,
  type RuntimeWork,
} from "../../../../src/runtime/index.ts";
import { Turns } from "../../../../src/runtime/lane/turn.ts";
import { partitionOf } from "../../../../src/runtime/mailbox/partition.ts";
import { implement } from "../../../../src/runtime/port.ts";
import { jsonActivity } from "../../../harness/runtime/counter.ts";
import type { TestRuntime } from "../../../harness/runtime/runtime.ts";
import { until } from "../../../harness/until.ts";
import { gate, Harness } from "../../harness.ts";
import {
  type Act,
  chain,
  keysIn,
  type Order,
  type ScriptedState,
  scriptedActor,
  scriptedAt,
  type Tell,
} from "../scripted-actor.ts";

const harness = new Harness();
const [a = "", b = "", c = "", d = ""] = keysIn(3, 4);
const [far = ""] = keysIn(4, 1);

const start = (options: Partial<RuntimeOptions & RuntimeWork> = {}) =>
  harness.node({ actors: [scriptedActor()], ...options });
const play = (runtime: TestRuntime, key: string, order: Order) =>
  runtime.ask(scriptedAt(key), "play", order as unknown as null);
const order = (label: string, tells: readonly Tell[] = [], act?: Act): Order =>
  act === undefined ? { label, tells } : { label, tells, act };
async function heardBy(runtime: TestRuntime, key: string): Promise<readonly string[] | null> {
  const stored = await runtime.read(scriptedAt(key));
  return stored === null ? null : (stored.state as ScriptedState).heard;
}
async function madeBy(runtime: TestRuntime, key: string): Promise<readonly string[]> {
  const stored = await runtime.read(scriptedAt(key));
  return (stored?.state as ScriptedState | undefined)?.made ?? [];
}
/** How many commits `work` takes. */
async function commitsOf(runtime: TestRuntime, work: () => Promise<unknown>): Promise<number> {
  const before = runtime.counts().commits;
  await work();
  return runtime.counts().commits - before;
}

test("no reader ever sees the sender's turn without the receiver's", async () => {
  const { runtime } = await start();
  let asking = true;
  const asked = (async () => {
    for (let round = 0; round < 150; round++) await play(runtime, a, order("x", [{ key: b, body: { label: "x" } }]));
    asking = false;
  })();
  let looks = 0;
  let seen = -1;
  while (asking) {
    const rows = await harness.stores.sql<
      { state: string }[]
    >`select state from runtime_actors where kind = 'scripted'`;
    const counts = rows.map(({ state }) => (JSON.parse(state) as ScriptedState).heard.length);
    expect(counts).toEqual(counts.length === 0 ? [] : [counts[0] as number, counts[0] as number]);
    if (counts[0] !== seen) looks++;
    seen = counts[0] ?? -1;
  }
  await asked;
  expect(looks).toBeGreaterThan(5);
});

test("a whole exchange is one commit, whether or not its actors are in memory", async () => {
  const { runtime } = await start({ actorIdleMs: 50 });
  const exchange = order("1", [
    { key: b, body: order("2", [{ key: a, body: order("4") }]) as never },
    { key: c, body: order("3") as never },
  ]);
  for (let round = 1; round <= 2; round++) {
    expect(await commitsOf(runtime, () => play(runtime, a, exchange))).toBe(1);
    expect(await heardBy(runtime, a)).toEqual(Array.from({ length: round }, () => ["1", "4"]).flat());
    expect(await heardBy(runtime, b)).toHaveLength(round);
    expect(await heardBy(runtime, c)).toHaveLength(round);
    await until(() => runtime.counts().cachedActors === 0, { what: "all actors to leave memory" });
  }
  // The sender alone is brought into memory; the others are looked for when they are told.
  await play(runtime, a, order("5"));
  expect(await commitsOf(runtime, () => play(runtime, a, exchange))).toBe(1);
  expect(await heardBy(runtime, b)).toEqual(["2", "2", "2"]);
  expect([...(await harness.stores.sql`select 1 from runtime_outbox`)]).toEqual([]);
});

test("a co-committed message comes before any later one", async () => {
  const { runtime } = await start();
  const sent = Array.from({ length: 40 }, (_, index) => [
    runtime.tell(scriptedAt(a), "play", { label: "s", tells: [{ key: b, body: { label: `${index} told` } }] }),
    runtime.tell(scriptedAt(b), "play", { label: `${index} sent` }),
  ]);
  await Promise.all(sent.flat());
  await until(async () => (await heardBy(runtime, b))?.length === 80, { what: "everything to be heard" });
  expect(await heardBy(runtime, b)).toEqual(
    Array.from({ length: 40 }, (_, index) => [`${index} told`, `${index} sent`]).flat(),
  );
});

test("ids made beside an actor lie in its partition and are told in its commit", async () => {
  const [{ runtime }] = await harness.pair({ actors: [scriptedActor()] });
  for (const key of [...keysIn(0, 2), ...keysIn(5, 2)]) {
    await play(runtime, key, { label: "born", make: 3 });
    const made = await madeBy(runtime, key);
    expect(new Set(made).size).toBe(3);
    for (const id of made) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(partitionOf("scripted", id, 8)).toBe(partitionOf("scripted", key, 8));
      expect(await heardBy(runtime, id)).toEqual(["born"]);
    }
  }
});

test("the search for an id ends, with any id, when none fits", () => {
  const turns = new Turns([scriptedActor()], { now: () => 1, newId: () => "always the same" }, 64);
  const key = keysIn(0, 20).find(
    (one) => partitionOf("scripted", one, 64) !== partitionOf("scripted", "always the same", 64),
  );
  const cached = {
    kind: "scripted",
    key: key ?? "",
    partition: 0,
    tenant: "acme",
    version: 0,
    logs: {},
    timers: {},
    format: 0,
    state: null,
    usedAt: 0,
    size: 0,
  };
  const envelope = {
    ...cached,
    source: "n1",
    sequence: 1,
    type: "play",
    body: { label: "x", make: 1 },
    replyTo: null,
    activity: null,
    fresh: true,
  };
  expect(turns.run(cached, envelope)).toMatchObject({ result: "done", effects: [{ key: "always the same" }] });
});

test("a receiver that lives apart hears by way of the outbox", async () => {
  const [{ runtime }] = await harness.pair({ actors: [scriptedActor()] });
  const back = order("back", [{ key: a, body: { label: "again" } }]);
  await play(
    runtime,
    a,
    order("1", [
      { key: far, body: back as never },
      { key: b, body: { label: "near" } },
    ]),
  );
  expect(await heardBy(runtime, b)).toEqual(["near"]);
  await until(async () => (await heardBy(runtime, a))?.length === 2, { what: "the answer from afar" });
  expect(await heardBy(runtime, far)).toEqual(["back"]);
});

test("the owner of a receiver of another partition applies the message in memory", async () => {
  const [{ runtime }] = await harness.pair({ actors: [scriptedActor()] });
  const others = [0, 1, 2, 4, 5, 6, 7].flatMap((partition) => keysIn(partition, 1));
  for (const key of others) await play(runtime, key, order("before"));
  await play(
    runtime,
    a,
    order(
      "1",
      others.map((key) => ({ key, body: { label: "told" } })),
    ),
  );
  for (const key of others) {
    await until(async () => (await heardBy(runtime, key))?.length === 2, { what: "what was told" });
    await play(runtime, key, order("after"));
    expect(await heardBy(runtime, key)).toEqual(["before", "told", "after"]);
  }
});

const failing: readonly [what: string, tell: Partial<Tell>, error: RegExp | null][] = [
  ["a handler that throws", { body: { label: "x", act: "throw" } }, /told to throw/],
  ["a body that does not fit", { body: { label: 1 } }, /label/],
  ["an actor of another tenant", { key: c }, null],
  ["a state that fits no more", { key: d }, /stored state/],
];

test.each([...failing])("%s: the sender is left alone, the message goes its own way", async (_, tell, error) => {
  const { runtime } = await start();
  await runtime.ask(scriptedAt(c, "umbrella"), "play", { label: "foreign" });
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    values ('scripted', ${d}, 'acme', 3, 1, '{}', '{"heard":"much"}')`;
  const first = { key: b, body: { label: "first" }, ...tell };
  // Later messages to the same receiver do not overtake; those to others are not held up.
  const later = { key: first.key, body: { label: "later" } };
  await play(runtime, a, order("1", [first, later, { key: a, body: { label: "2" } }]));
  expect(await heardBy(runtime, a)).toEqual(["1", "2"]);
  const letters = () => runtime.deadLetters.list({});
  if (error === null) {
    await until(async () => (await harness.stores.sql`select 1 from runtime_outbox`).length === 0);
    expect(await runtime.read(scriptedAt(c, "umbrella"))).toMatchObject({ version: 1, state: { heard: ["foreign"] } });
    expect(await letters()).toEqual([]);
    return;
  }
  await until(async () => (await letters()).length > 0, { what: "the dead letter" });
  expect((await letters()).at(-1)).toMatchObject({ key: first.key, error: expect.stringMatching(error) });
  if (first.key === b) await until(async () => (await heardBy(runtime, b))?.join() === "later", { what: "the other" });
  expect(await play(runtime, a, order("3"))).toBe("done");
});

test("after one message to a receiver is sent apart, the next does not overtake it", async () => {
  const attempts: string[] = [];
  const { runtime } = await harness.node({ actors: [scriptedActor(attempts)] });
  const first = { key: b, body: { label: "x", act: "throw" } };
  await play(runtime, a, order("1", [first, { key: b, body: { label: "later" } }, { key: c, body: { label: "2" } }]));
  await until(async () => (await heardBy(runtime, b))?.join() === "later", { what: "the later message" });
  const labels = attempts.map((one) => one.split(" ")[0]);
  expect(labels).toEqual(["1", "x", "x", "x", "2", "x", "x", "x", "later"]);
});

test("a long chain goes on from commit to commit", async () => {
  const { runtime } = await start();
  const keys = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? b : a));
  const commits = await commitsOf(runtime, async () => {
    await play(runtime, a, chain(keys));
    await until(async () => (await heardBy(runtime, a))?.includes("last"), { what: "the end of the chain" });
  });
  // One message and 32 that follow from it, each time.
  expect(commits).toBe(4);
  expect(((await heardBy(runtime, a))?.length ?? 0) + ((await heardBy(runtime, b))?.length ?? 0)).toBe(101);
});

test("one commit holds a bounded number of turns", async () => {
  const { runtime } = await start();
  const senders = keysIn(3, 204).slice(4);
  const links = Array.from({ length: 32 }, () => b);
  const commits = await commitsOf(runtime, async () => {
    await Promise.all(senders.map((key) => play(runtime, key, chain(links))));
    await until(async () => (await heardBy(runtime, b))?.length === senders.length * links.length, {
      what: "every chain to end",
    });
  });
  // 6,400 turns of the receiver, 2,048 in a commit.
  expect(commits).toBeGreaterThan(3);
});

test("logs, tails, work, timers, deferred answers and projections are as in any turn", async () => {
  const done = gate();
  const rows: string[] = [];
  const watched: Projection = {
    kind: "scripted",
    project: (changes) => {
      rows.push(changes.map(({ key }) => key).join());
      return [];
    },
  };
  const work = implement(jsonActivity("work"), { concurrency: 9, retry: { attempts: 1, firstDelayMs: 1 } }, () =>
    done.passed.then(() => null),
  );
  const { runtime } = await start({ activities: [work], projections: [watched] });
  const live: unknown[] = [];
  const end = runtime.tail(scriptedAt(b), 0, (entries) => live.push(...entries.map(({ entry }) => entry)));
  const tellB = (act: Act, label: string): Tell => ({ key: b, body: { label, act } });
  const held = runtime.ask(scriptedAt(b), "play", { label: "held", act: "hold" });
  await until(async () => (await heardBy(runtime, b)) !== null);
  const tells = [tellB("emit", "e1"), tellB("perform", "kept"), tellB("perform", "lost"), tellB("abandon", "lost")];
  await play(runtime, a, order("1", [...tells, tellB("wake", "w"), tellB("release", "freed"), tellB("emit", "e2")]));
  expect(await held).toBe("freed");
  expect(rows).toEqual([b, `${a},${b}`]);
  await until(() => live.join() === "e1,e2", { what: "the live entries" });
  end();
  done.open(undefined);
  const seen = await until(async () => {
    const heard = (await heardBy(runtime, b)) ?? [];
    return heard.includes("worked kept") && heard.includes("woken w") ? heard : null;
  });
  expect(seen).not.toContain("worked lost");
});

test("an actor that ends in a co-committed turn is gone; told again, it begins anew", async () => {
  const { runtime } = await start();
  await play(runtime, b, order("old", [], "emit"));
  await play(runtime, a, order("1", [{ key: b, body: { label: "bye", act: "end" } }]));
  expect(await heardBy(runtime, b)).toBeNull();
  expect(await runtime.log(scriptedAt(b), "events", 0, 9)).toEqual([]);
  const anew = [
    { key: b, body: { label: "x", act: "end" } },
    { key: b, body: { label: "new", act: "emit" } },
  ];
  await play(runtime, a, order("2", anew));
  expect(await heardBy(runtime, b)).toEqual(["new"]);
  expect(await runtime.log(scriptedAt(b), "events", 0, 9)).toMatchObject([{ seq: 1, entry: "new" }]);
  // The sender may end itself as well.
  await play(runtime, a, order("3", [{ key: b, body: { label: "last words" } }], "end"));
  expect(await heardBy(runtime, a)).toBeNull();
  expect(await heardBy(runtime, b)).toEqual(["new", "last words"]);
});

test.each(["ask", "fresh ask"] as const)(
  "%s: a receiver's turn that cannot be stored does not poison the sender",
  async (way) => {
    const { runtime } = await start();
    const key = way === "ask" ? a : Bun.randomUUIDv7();
    const bystanders = Array.from({ length: 20 }, () =>
      runtime.ask(scriptedAt(Bun.randomUUIDv7()), "play", { label: "by" }, { fresh: true }),
    );
    const asked = runtime.ask(
      scriptedAt(key),
      "play",
      {
        label: "1",
        make: 1,
        tells: [{ key: key, body: { label: "2", tells: [{ key, body: { label: "3", act: "unstorable" } }] } }],
      },
      { fresh: way === "fresh ask" },
    );
    expect(await asked).toBe("done");
    expect(await Promise.all(bystanders)).toEqual(bystanders.map(() => "done"));
    await until(async () => (await runtime.deadLetters.list({})).length > 0, { what: "the dead letter" });
    expect(await runtime.deadLetters.list({})).toMatchObject([
      { key, error: expect.stringContaining("cannot be stored") },
    ]);
    expect(await heardBy(runtime, key)).toEqual(["1", "2"]);
    const made = await madeBy(runtime, key);
    await until(async () => (await heardBy(runtime, made[0] ?? ""))?.join() === "1", { what: "the one that was made" });
  },
);

test.each(["ask", "fresh ask"] as const)(
  "%s: a sender's turn that cannot be stored reaches no receiver",
  async (way) => {
    const { runtime } = await start();
    const key = way === "ask" ? a : Bun.randomUUIDv7();
    const asked = runtime.ask(
      scriptedAt(key),
      "play",
      {
        label: "1",
        act: "unstorable",
        make: 1,
        tells: [{ key: b, body: { label: "2" } }],
      },
      { fresh: way === "fresh ask" },
    );
    await expect(asked).rejects.toBeInstanceOf(MessageRejected);
    expect(await heardBy(runtime, key)).toBeNull();
    expect(await heardBy(runtime, b)).toBeNull();
    expect(await play(runtime, a, order("3", [{ key: b, body: { label: "4" } }]))).toBe("done");
    expect(await heardBy(runtime, b)).toEqual(["4"]);
  },
);

test("a stored row that is no JSON delays no other actor", async () => {
  const { runtime } = await start();
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    values ('scripted', ${b}, 'acme', 3, 1, '{}', '{"heard":')`;
  expect(await play(runtime, a, order("1", [{ key: b, body: { label: "2" } }]))).toBe("done");
  await until(async () => (await runtime.deadLetters.list({})).length === 1, { what: "the dead letter" });
  expect(await play(runtime, a, order("3"))).toBe("done");
});

test("repeated after a failed commit, a message and its consequences keep their ids", async () => {
  const attempts: string[] = [];
  const { runtime } = await harness.node({ actors: [scriptedActor(attempts)] });
  await harness.stores.sql`update runtime_partitions set epoch = epoch + 1`;
  const body = chain([b, c, a, b]) as never;
  await runtime.ask(scriptedAt(a), "play", body);
  await until(async () => (await heardBy(runtime, b))?.includes("last"), { what: "the chain" });
  expect(attempts).toHaveLength(10);
  expect(attempts.slice(5)).toEqual(attempts.slice(0, 5));
  expect(new Set(attempts).size).toBe(5);
});
