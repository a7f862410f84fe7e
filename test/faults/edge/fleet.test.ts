/** A node that dies in the middle of a wave, and a Redis that is flushed in the middle of a run. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { FleetFixture } from "../../features/edge/fleet/fixture.ts";
import { until } from "../../harness/until.ts";
import { OwnStores } from "../own-stores.ts";

setDefaultTimeout(60_000);

let own: OwnStores;
let at: FleetFixture;
beforeAll(async () => {
  own = await OwnStores.start();
  at = await FleetFixture.open("acme", { ...(await own.fresh()), dispose: async () => {} });
}, 60_000);
afterAll(async () => {
  await at?.close();
  await own?.dispose();
});

const sleep = { tool: "cmd.run", args: { command: "sleep 1" } };
const tagged = (tag: string) => ({ Selector: { tags: [tag] } });

// edge-fleet 31
test("a node killed in a wave: each host runs its command once, the run ends", async () => {
  const daemons = await at.hosts("killed", ["k-1", "k-2", "k-3", "k-4", "k-5", "k-6"]);
  const policy = { mode: { Rolling: { batch: 3 } }, failure_policy: "ContinueOnError" };
  const begun = at.begin({ target: tagged("killed"), ...sleep, policy });
  // As soon as the first command is on record, with others of its wave on their way.
  await until(async () => (await at.edge.stores.sql`select 1 from edge_commands limit 1`).length > 0, { everyMs: 1 });
  await at.node.kill();
  await begun.catch(() => {});
  await at.node.restart();
  await at.signIn();
  const [row] = await at.edge.stores.sql<{ id: string }[]>`select id from edge_runs order by created_at desc limit 1`;
  const id = row?.id ?? "";
  const counts = await Promise.all(
    daemons.map(async (daemon, nth) => {
      const command = await daemon.next();
      await daemon.result(id, command, nth === 4 ? "err" : "ok");
      return command;
    }),
  );
  expect(await at.ended(id)).toMatchObject({ outcome: "complete", summary: { ok: 5, err: 1 } });
  expect(new Set(counts).size).toBe(6);
  for (const daemon of daemons) await daemon.read();
  expect(daemons.flatMap(({ invoked }) => invoked)).toEqual([]);
  const reader = at.follow(id);
  await reader.end();
  const results = reader.events.filter(({ event }) => event === "command_result").map(({ data }) => data.node_id);
  expect(results.sort()).toEqual(daemons.map(({ id }) => id).sort());
});

// edge-fleet 31
test("a Redis flushed in a run: numbers stay, no event is lost or shown twice", async () => {
  const daemons = await at.hosts("flushed", ["f-1", "f-2", "f-3"]);
  const reader = at.invoke({ target: tagged("flushed"), ...sleep });
  const { fleet_command_id: id } = await reader.first("fleet_started");
  const [one, ...others] = daemons;
  const command = (await one?.next()) ?? "";
  await one?.output(id, command, 0, "some");
  await one?.result(id, command);
  await reader.first("command_result");
  const shown = [...reader.lasting];
  const redis = openRedis(own.redisUrl);
  await redis.flushall();
  redis.disconnect();
  for (const daemon of others) await daemon.result(id, await daemon.next());
  await reader.end();
  const whole = at.follow(id);
  await whole.end();
  expect(whole.lasting.slice(0, shown.length)).toEqual(shown);
  expect(whole.lasting).toEqual(reader.lasting);
  const ids = reader.events.map((event) => event.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(reader.names.filter((name) => name === "command_result")).toHaveLength(3);
  const last = shown.at(-1)?.id ?? 0;
  const behind = at.follow(id, { "Last-Event-ID": String(last) });
  await behind.end();
  expect(behind.lasting).toEqual(whole.lasting.slice(shown.length));
});
