/** Two versions side by side under load: what the earlier one does not know waits for the later one. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { openRedis, type RedisClient, slotGroupsOf } from "../../../src/store/redis/connections.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";
import { approves, laterEffect } from "./kinds.ts";

setDefaultTimeout(120_000);

let stores: TestStores;
let cluster: Cluster;
let redis: RedisClient;
beforeAll(async () => {
  stores = await freshStores();
  cluster = new Cluster(stores);
  redis = openRedis(stores.redisServers ?? stores.redisUrl);
});
afterEach(() => cluster.killAll());
afterAll(async () => {
  redis.disconnect();
  await stores.dispose();
});

const earlier = () => cluster.start({ version: "earlier" });
const later = () => cluster.start({ version: "later" });
const statesOf = async (kind: string) => {
  const rows = await stores.sql<{ key: string; state: string }[]>`
    select key, state from runtime_actors where kind = ${kind}`;
  return new Map(rows.map(({ key, state }) => [key, JSON.parse(state)]));
};
const parked = async () =>
  (await stores.sql<{ need: string }[]>`select distinct need from runtime_parked where need is not null`).map(
    ({ need }) => need,
  );

/** An effect of a later node that died before it was carried out: a reply to a node. @returns whether that one has it */
async function leaveEffect(): Promise<() => Promise<boolean>> {
  const effect = JSON.stringify([laterEffect, "asking-node", "~1", { value: null }]);
  await stores.sql`
    with moved as (update runtime_partitions set outbox_seq = outbox_seq + 1 where partition = 0 returning outbox_seq)
    insert into runtime_outbox (partition, seq, effect) select 0, outbox_seq, ${effect} from moved`;
  return async () => (await redis.xlen(runtimeKeys(stores.prefix, slotGroupsOf(redis)).wake("asking-node"))) === 1;
}

/** Tells, through any node that answers, actors of kinds and shapes that the earlier version does not know. */
class LaterWork {
  readonly asked = new Set<string>();
  readonly bumped = new Set<string>();
  readonly errors: string[] = [];
  private stopping = false;
  private next = 0;
  private readonly running: Promise<void>;

  constructor() {
    this.running = this.send();
  }

  private async tell(kind: string, key: string, type: string, body: Json): Promise<boolean> {
    const nodes = cluster.responsive;
    const node = nodes[this.next % nodes.length];
    if (node === undefined) return false;
    return await node.tell(key, type, body, kind).then(
      () => true,
      () => false,
    );
  }

  private async send(): Promise<void> {
    for (; !this.stopping; this.next++) {
      const name = String(this.next);
      const key = `${name}-${this.next % 2 === 0 ? "soon" : "late"}`;
      if (await this.tell("asker", key, "ask", {})) this.asked.add(key);
      const isBumped = await this.tell("meter", `meter-${this.next % 16}`, "bump", { label: name, unit: "m" });
      if (isBumped) this.bumped.add(name);
      // A pace of the load.
      await Bun.sleep(20);
    }
  }

  /** Ends the load, approves what waits for it, and looks for losses and doubles. */
  async settle(node: NodeProcess): Promise<void> {
    this.stopping = true;
    await this.running;
    await until(
      async () => {
        const approvals = await statesOf("approval");
        return [...this.asked].every((key) => approvals.has(key));
      },
      { what: "the approvals", timeoutMs: 30_000 },
    );
    for (const key of this.asked) {
      if (key.endsWith("-soon")) await node.ask(key, "approve", approves, 20_000, "approval");
    }
    await until(
      async () => {
        const askers = await statesOf("asker");
        return [...this.asked].every((key) => askers.get(key)?.decisions.length === 1);
      },
      { what: "every decision, once", timeoutMs: 30_000 },
    );
    const askers = await statesOf("asker");
    const wanted = (key: string) => (key.endsWith("-soon") ? "approved" : "timed_out");
    expect([...this.asked].filter((key) => askers.get(key)?.decisions.join() !== wanted(key))).toEqual([]);
    const labels = await until(
      async () => {
        const all = [...(await statesOf("meter")).values()].flatMap(({ labels }) => labels as string[]);
        return [...this.bumped].every((label) => all.includes(label)) && all;
      },
      { what: "every bump", timeoutMs: 20_000 },
    );
    expect(labels.length).toBe(new Set(labels).size);
    expect(this.asked.size).toBeGreaterThan(20);
  }
}

/** How often all of it is done. */
const rounds = process.env.SVC_LONG_TESTS === "1" ? 10 : 1;

test("upgrades and rollbacks by killed nodes: nothing is lost, doubled or dead", async () => {
  let [one, two] = [await earlier(), await earlier()];
  const load = new Load(cluster, stores.sql);
  const more = new LaterWork();
  await until(async () => (await parked()).length >= 2, { what: "messages to wait", timeoutMs: 30_000 });
  for (let round = 1; ; round++) {
    const known = await later();
    await load.more(150, 40_000);
    await cluster.kill(one);
    await load.more(80, 40_000);
    await cluster.kill(two);
    await load.more(80, 40_000);
    // Back again: the later one dies, and what only it knows waits.
    one = await earlier();
    await load.more(80, 40_000);
    await cluster.kill(known);
    await load.more(60, 40_000);
    if (round === rounds) break;
    two = await earlier();
  }
  expect(await cluster.drain(one)).toBe(0);
  const carriedOut = await leaveEffect();
  await earlier();
  await until(async () => (await parked()).includes(`["effect","${laterEffect}"]`), { what: "the effect to wait" });
  const last = await later();
  await load.more(60, 40_000);
  await load.settle(40_000);
  await more.settle(last);
  await until(carriedOut, { what: "the effect to be carried out" });
  expect(await parked()).toEqual([]);
});
