/** Both stores cut off in silence: honest refusals meanwhile, work again soon after, nothing lost or doubled. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { limit, StimuliFixture, signed } from "../features/stimuli/fixture.ts";
import { startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { blackHole } from "./black-hole.ts";

setDefaultTimeout(180_000);

/** How long the stores are cut off, ms; longer than every time limit of the node. */
const cutOffMs = process.env.SVC_LONG_TESTS === "1" ? 60_000 : 8_000;
/** In which a request ends while a store is away, ms; and what a busy machine may add. */
const [answerMs, slackMs] = [6_000, 2_000];

const disposers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of disposers.splice(0).reverse()) await step();
});

const secret = "a-secret-for-the-cut";

test("both stores behind a black hole are refused honestly, and used again soon after", async () => {
  const stores = await freshStores();
  disposers.push(() => stores.dispose());
  const hole = await blackHole(stores);
  disposers.push(() => hole.dispose());
  if (hole.kind === "proxy")
    console.error("cut-off.test.ts: no network namespaces here, a proxy stops reading instead");
  await limit(stores, "svc-system", 10_000_000);
  const node = await startNodeProcess({ ...stores, databaseUrl: hole.databaseUrl, redisUrl: hole.redisUrl });
  disposers.push(() => node.dispose());
  const fixture = new StimuliFixture(stores, node);
  await fixture.workflow("counted");
  await fixture.route({ source: "received", workflow: "counted", secret, acknowledge: "received" });
  await node.token();

  let sent = 0;
  const accepted: string[] = [];
  async function deliver(): Promise<number> {
    const key = `key-${sent++}`;
    const body = `delivery ${key}`;
    const headers = { "X-Idempotency-Key": key };
    const { status } = await fixture.hook("received", body, { signature: signed(body, secret), headers });
    if (status === 202) accepted.push(key);
    return status;
  }
  for (let round = 0; round < 20; round++) expect(await deliver()).toBe(202);

  await hole.open();
  const cutAt = performance.now();
  const token = await node.token();
  const ask = async (path: string) => {
    const response = await fetch(node.url + path, {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs + slackMs),
    });
    return { status: response.status, retryAfter: response.headers.get("Retry-After") };
  };
  const refusals = await Promise.all([
    ask("/v1/executions"),
    ask("/v1/agents"),
    ask("/v1/volumes"),
    ask("/v1/audit"),
    ask("/v1/workflows"),
    ask("/v1/human-approvals"),
    ask("/v1/stimuli"),
  ]);
  for (const refusal of refusals) expect(refusal).toMatchObject({ status: 503, retryAfter: expect.any(String) });
  expect(await deliver()).toBe(503);

  const ready = async () => {
    const response = await fetch(`${node.url}/health/ready`);
    return { status: response.status, body: (await response.json()) as Readiness };
  };
  await until(
    async () => {
      const { status, body } = await ready();
      const { database, redis } = body.dependencies;
      return (
        status === 503 && Boolean(database?.reason?.includes("answer")) && Boolean(redis?.reason?.includes("answer"))
      );
    },
    { what: "readiness to name both stores and the reason", timeoutMs: 15_000 },
  );
  // The time without the stores is the subject: it is longer than what the node may take for stuck.
  await Bun.sleep(Math.max(0, cutOffMs - (performance.now() - cutAt)));
  expect((await fetch(`${node.url}/health/live`)).status).toBe(200);

  await hole.close();
  await until(async () => (await ready()).status === 200, {
    what: "the node to be ready again",
    timeoutMs: 5_000 + slackMs + 2_000,
  });
  for (let round = 0; round < 20; round++) await until(async () => (await deliver()) === 202, { timeoutMs: 10_000 });
  await until(
    async () => {
      const [row] = await stores.sql<{ runs: number; known: number }[]>`
        select (select count(*)::int from workflow_runs) as runs,
          (select count(*)::int from stimuli s join workflow_runs w on w.run_id::text = s.run_id::text
            where s.idempotency_key = any(${`{${accepted.join(",")}}`}::text[])) as known`;
      return row?.known === accepted.length;
    },
    { what: "each accepted delivery to have its run", timeoutMs: 30_000 },
  );
  const [counts] = await stores.sql`
    select count(*)::int as runs, count(distinct stimulus_id)::int as origins from workflow_runs`;
  expect(counts?.runs).toBe(counts?.origins);
});

interface Readiness {
  readonly dependencies: Readonly<Record<string, { readonly status: string; readonly reason: string | null }>>;
}
