/** Nothing accepted is lost, and no delivery starts two runs, whatever dies in the middle of a burst. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { limit, StimuliFixture, signed } from "../features/stimuli/fixture.ts";
import { startNodeProcess } from "../harness/node/node-process.ts";
import { redisKind } from "../harness/redis/kind.ts";
import type { TestStores } from "../harness/stores.ts";
import { freshStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { OwnStores } from "./own-stores.ts";

setDefaultTimeout(120_000);

const secret = "a-secret-for-the-burst";
const disposers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of disposers.splice(0).reverse()) await step();
});

/** A node with a source that is routed within the request and one that is only acknowledged. */
async function open(stores: TestStores): Promise<StimuliFixture> {
  await limit(stores, "svc-system", 10_000_000);
  const fixture = await join(stores);
  await fixture.workflow("counted");
  for (const acknowledge of ["routed", "received"]) {
    await fixture.route({ source: acknowledge, workflow: "counted", secret, acknowledge });
  }
  return fixture;
}

async function join(stores: TestStores): Promise<StimuliFixture> {
  const node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "error" } });
  disposers.push(() => node.dispose());
  return new StimuliFixture(stores, node);
}

/** What came back for each key: its status, or null where nobody answered. */
type Answers = Map<string, number | null>;

/** Sends keys `from`…`to`, many at once, turn by turn to the two sources. */
async function burst(fixture: StimuliFixture, answers: Answers, from: number, to: number, atOnce = 32): Promise<void> {
  let next = from;
  const send = async () => {
    for (let key = next++; key < to; key = next++) {
      const source = key % 2 === 0 ? "routed" : "received";
      const body = `delivery ${key}`;
      const headers = { "X-Idempotency-Key": `key-${key}` };
      const answer = await fixture.hook(source, body, { signature: signed(body, secret), headers }).catch(() => null);
      answers.set(`key-${key}`, answer?.status ?? null);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
}

/** Sends again what was not accepted, as every provider does, until all of it is. */
async function insist(fixture: StimuliFixture, answers: Answers): Promise<void> {
  const refused = [...answers].filter(([, status]) => !isTaken(status)).map(([key]) => key);
  let next = 0;
  const send = async () => {
    for (let key = refused[next++]; key !== undefined; key = refused[next++]) await insistOn(fixture, answers, key);
  };
  await Promise.all(Array.from({ length: 32 }, send));
}

async function insistOn(fixture: StimuliFixture, answers: Answers, key: string): Promise<void> {
  const number = Number(key.slice(4));
  await until(
    async () => {
      const again: Answers = new Map();
      await burst(fixture, again, number, number + 1, 1);
      const status = again.get(key) ?? null;
      if (isTaken(status)) answers.set(key, status);
      return isTaken(status);
    },
    { what: `${key} to be taken`, timeoutMs: 60_000, everyMs: 100 },
  );
}

const isTaken = (status: number | null): boolean => status !== null && (status < 300 || status === 409);

/** Every key has one stimulus that started one run, and no run has any other origin. */
async function expectOnce(sql: Sql, count: number): Promise<void> {
  await until(
    async () => {
      const [row] = await sql<{ open: number }[]>`select count(*)::int as open from stimuli where status = 'received'`;
      return row?.open === 0;
    },
    { what: "every stimulus to be processed", timeoutMs: 90_000, everyMs: 100 },
  );
  const [counts] = await sql<{ keys: number; classified: number; runs: number; known: number }[]>`
    select (select count(distinct idempotency_key)::int from stimuli where status = 'classified') as keys,
      (select count(*)::int from stimuli where status = 'classified') as classified,
      (select count(*)::int from workflow_runs) as runs,
      (select count(*)::int from workflow_runs w join stimuli s on s.id::text = w.stimulus_id::text
        and s.run_id::text = w.run_id::text) as known`;
  expect(counts).toEqual({ keys: count, classified: count, runs: count, known: count });
}

test("kill -9 of the node in the burst", async () => {
  const stores = await freshStores();
  disposers.push(() => stores.dispose());
  const fixture = await open(stores);
  const count = 1_000;
  const answers: Answers = new Map();
  const sending = burst(fixture, answers, 0, count);
  await until(() => answers.size > 200, { what: "the burst to be under way", everyMs: 1 });
  await fixture.node.kill();
  await sending;
  await fixture.node.restart();
  expect([...answers.values()].filter((status) => status === null).length).toBeGreaterThan(0);
  await insist(fixture, answers);
  await expectOnce(stores.sql, count);
});

// Not on a Cluster, but in the longer form: `test/faults/runtime/outage.test.ts` takes stores away from nodes there.
const isShort = redisKind !== "single" && process.env.SVC_LONG_TESTS !== "1";

test.skipIf(isShort).each<[string, (own: OwnStores) => Promise<void>]>([
  // The time without Redis is the subject.
  ["Redis", (own) => own.withoutRedis(() => Bun.sleep(300))],
  ["PostgreSQL", (own) => own.withoutPostgres("SIGKILL", async () => {})],
])("kill -9 of %s in the burst", async (_, outage) => {
  const own = await OwnStores.start();
  disposers.push(() => own.dispose());
  const stores = { ...(await own.fresh()), dispose: async () => {} };
  disposers.push(() => stores.sql.end({ timeout: 2 }));
  const fixture = await open(stores);
  const count = 1_000;
  const answers: Answers = new Map();
  const sending = burst(fixture, answers, 0, count);
  await until(() => answers.size > 200, { what: "the burst to be under way", everyMs: 1 });
  await outage(own);
  await sending;
  // A sender that was not let in was told to come again.
  for (const status of answers.values()) expect([200, 202, 409, 503]).toContain(status ?? 0);
  await insist(fixture, answers);
  await expectOnce(stores.sql, count);
});

test.skipIf(isShort)("two nodes get each delivery at the same instant, a thousand times", async () => {
  const stores = await freshStores();
  disposers.push(() => stores.dispose());
  const nodes = [await open(stores), await join(stores)] as const;
  const count = 1_000;
  let next = 0;
  const send = async () => {
    for (let key = next++; key < count; key = next++) {
      const body = `delivery ${key}`;
      const options = { signature: signed(body, secret), headers: { "X-Idempotency-Key": `key-${key}` } };
      const source = key % 2 === 0 ? "routed" : "received";
      const answers = await Promise.all(nodes.map((node) => node.hook(source, body, options)));
      // Where a partition moves to the node that joined, a delivery is stored and its start follows.
      const statuses = answers.map(({ status, body: told }) => (status === 503 && told.stimulus_id ? 200 : status));
      expect(statuses.toSorted()).toEqual([source === "routed" ? 200 : 202, 409]);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  await expectOnce(stores.sql, count);
});
