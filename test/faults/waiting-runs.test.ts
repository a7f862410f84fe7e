/** Every stimulus that was acknowledged reaches the runs that wait for it, also when its node dies before they are told. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { limit, StimuliFixture } from "../features/stimuli/fixture.ts";
import { startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

setDefaultTimeout(120_000);

let fixture: StimuliFixture | null = null;
afterEach(async () => fixture?.close());

const count = 128;

test("kill -9 of the node between the answers and the telling", async () => {
  const stores = await freshStores();
  await limit(stores, "svc-system", 1_000_000);
  fixture = new StimuliFixture(stores, await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "error" } }));
  const { sql } = stores;
  await fixture.register("await-order", {
    AWAIT: { kind: "Wait", stimulus: { source: "orders", key: "order", equals: "{{input.order}}" }, transitions: [] },
  });
  const begin = (order: number) => fixture?.start("await-order", { input: { order } });
  // Half of them wait before their stimulus comes, half begin to wait while the stimuli are being told.
  const numbers = Array.from({ length: count }, (_, order) => order);
  await sideBySide(numbers.slice(0, count / 2), begin);
  const send = async (order: number): Promise<boolean> => {
    const body = { source: "orders", content: { order }, idempotency_key: `order-${order}` };
    const answer = await fixture?.stimulus(body, { Prefer: "respond-async" }).catch(() => null);
    return answer?.status === 202 || answer?.status === 409;
  };
  const acknowledged = new Set<number>();
  const sending = sideBySide(numbers, async (order) => {
    if (await send(order)) acknowledged.add(order);
  });
  await until(() => acknowledged.size > count / 8, { what: "the burst to be under way", everyMs: 1 });
  await fixture.node.kill();
  await sending;
  const [left] = await sql<{ open: number }[]>`select count(*)::int as open from stimuli where status = 'received'`;
  expect(left?.open).toBeGreaterThan(0);
  // The leases of the dead node are over.
  await sql`update stimuli set due_at = received_at where status = 'received'`;
  await fixture.node.restart();
  await sideBySide(numbers.slice(count / 2), begin);
  await sideBySide(
    numbers.filter((order) => !acknowledged.has(order)),
    async (order) => expect(await send(order)).toBe(true),
  );
  await until(
    async () => {
      const [row] = await sql<{ open: number; waits: number; unnoted: number }[]>`
        select (select count(*)::int from workflow_runs where ended_at is null) as open,
          (select count(*)::int from workflow_waits) as waits,
          (select count(*)::int from stimuli where status <> 'classified' or dead_letter) as unnoted`;
      return row?.open === 0 && row.waits === 0 && row.unnoted === 0;
    },
    { what: "every run to have its stimulus", timeoutMs: 60_000, everyMs: 100 },
  );
  const [told] = await sql<{ stimuli: number; runs: number; takers: number }[]>`
    select (select count(*)::int from stimuli) as stimuli, count(distinct run_id)::int as runs,
      count(distinct stimulus_id)::int as takers from stimulus_takers`;
  expect(told).toEqual({ stimuli: count, runs: count, takers: count });
});

async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<unknown> | undefined): Promise<void> {
  let next = 0;
  const inTurn = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, inTurn));
}
