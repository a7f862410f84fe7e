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
  for (const daemon of daemons) await daemon.connect();
  const [row] = await at.edge.stores.sql<{ id: string }[]>`select id from edge_runs order by created_at desc limit 1`;
  const id = row?.id ?? "";
  const counts = await Promise.all(
    daemons.map(async (daemon, nth) => {
      const command = await daemon.next();
      await daemon.result(command, nth === 4 ? "err" : "ok");
      return command;
    }),
  );
  expect(await at.ended(id)).toMatchObject({ outcome: "complete", summary: { ok: 5, err: 1 } });
  expect(new Set(counts).size).toBe(6);
  expect(daemons.map(({ told }) => told)).toEqual(counts.map((command) => [command]));
  const reader = at.follow(id);
  await reader.end();
  const results = reader.events.filter(({ event }) => event === "command_result").map(({ data }) => data.node_id);
  expect(results.sort()).toEqual(daemons.map(({ id }) => id).sort());
});

test("a Redis flushed in a run: numbers stay, no event is lost or shown twice", async () => {
  const daemons = await at.hosts("flushed", ["f-1", "f-2", "f-3"]);
  const reader = at.invoke({ target: tagged("flushed"), ...sleep });
  const { fleet_command_id: id } = await reader.first("fleet_started");
  const [one, ...others] = daemons;
  const command = (await one?.next()) ?? "";
  one?.output(command, 0, "some");
  await one?.result(command);
  await reader.first("command_result");
  const shown = [...reader.lasting];
  const redis = openRedis(own.redisUrl);
  await redis.flushall();
  redis.disconnect();
  for (const daemon of others) await daemon.result(await daemon.next());
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

test("runs past their retention are erased with all that is kept of them", async () => {
  const { sql } = at.edge.stores;
  const [last] = await sql<{ id: string }[]>`select id from edge_runs order by created_at desc limit 1`;
  await sql`update edge_runs set ended_at = now() - interval '91 days' where id <> ${last?.id ?? ""}`;
  await at.node.stop();
  await at.node.restart();
  await at.signIn();
  await until(async () => (await sql`select 1 from edge_run_requests`).length === 1, { what: "the old runs to go" });
  const tables = ["edge_runs", "edge_run_args", "edge_run_targets", "edge_run_event_ids", "edge_commands"] as const;
  for (const table of tables) {
    const column = table === "edge_runs" ? "id" : "run_id";
    const runs = await sql`select distinct ${sql(column)} as run from ${sql(table)}`;
    expect([table, runs.map(({ run }) => run)]).toEqual([table, [last?.id]]);
  }
  const { runs } = (await at.call("GET", "fleet/runs")).body;
  expect(runs.map(({ id }: { id: string }) => id)).toEqual([last?.id]);
});
