/** Links over two nodes: hosts that move, nodes that are killed and leave, a flushed Redis, a wrong clock. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { EdgeFixture, type Headers, newKey, told } from "../../features/edge/fixture.ts";
import { daemonOf, ended, hostOf, invoke, runOf } from "../../features/edge/link/fixture.ts";
import type { ScriptedDaemon } from "../../harness/edge/scripted-daemon.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";
import { OwnStores } from "../own-stores.ts";

setDefaultTimeout(90_000);

let own: OwnStores;
let at: EdgeFixture;
let other: NodeProcess;
let ann: Headers;

beforeAll(async () => {
  own = await OwnStores.start();
  const stores = { ...(await own.fresh()), dispose: async () => {} };
  at = await EdgeFixture.open({}, stores);
  // Its machine is five minutes ahead, and it wants newer daemons than the first node does.
  other = await startNodeProcess(stores, {
    program: "src/main.ts",
    env: {
      ...{ SVC_TRUSTED_PROXIES: "127.0.0.1", SVC_PUBLIC_URL: "", SVC_EDGE_MIN_VERSION: "1.0.0" },
      BUN_OPTIONS: `--preload ${join(import.meta.dir, "../machine-clock.ts")}`,
      SVC_TEST_CLOCK_MS: "300000",
    },
  });
  ann = await at.user("north", "ann");
});
afterAll(async () => {
  await other?.dispose();
  await at?.close();
  await own?.dispose();
});

/** The same daemon, from now on by another node. */
function through(node: NodeProcess, daemon: ScriptedDaemon): ScriptedDaemon {
  daemon.url = node.url;
  return daemon;
}

test("a hello through another node takes the link; commands go there alone", async () => {
  const one = await daemonOf(at, ann);
  const moved = through(other, await daemonOf(at, ann));
  Object.assign(moved, { host: one.host, bootId: one.bootId, journalId: one.journalId });
  expect((await one.welcome()).epoch).toBe(1);
  expect((await moved.welcome()).epoch).toBe(2);
  expect((await one.end()).code).toBe(4009);
  expect((await hostOf(at, ann, one)).connection).toMatchObject({ epoch: 2, service_node: expect.any(String) });
  const run = await invoke(at, ann, [moved]);
  moved.result((await moved.expect("invoke")).command_id);
  expect((await ended(at, ann, run)).summary.ok).toBe(1);
  expect(one.all("invoke")).toEqual([]);
  // Revoked through the node that does not hold the link.
  expect((await at.call("DELETE", `hosts/${one.host.id}`, ann)).status).toBe(204);
  await moved.expect("revoked", () => true, 2_000);
  expect((await moved.end(2_000)).code).toBe(4003);
  expect(moved.faults).toEqual([]);
});

test("a node whose machine's clock is wrong goes by the database's", async () => {
  const via = new EdgeFixture(at.stores, other);
  const token = await via.token(ann);
  const short = await via.token(ann, { ttl_seconds: 1 });
  const key = newKey();
  const answer = await via.enroll(token, key);
  expect(answer.status).toBe(200);
  expect((await via.rotate(answer.body.node_id, key, newKey())).status).toBe(200);
  await until(async () => told(await via.enroll(short, newKey())).join() === "410,enrollment_token_expired");
  const one = through(other, await daemonOf(at, ann));
  const welcome = await one.welcome();
  expect(Math.abs(Date.parse(welcome.server_time) - Date.now())).toBeLessThan(60_000);
  const run = await invoke(via, ann, [one]);
  const { command_id, not_after } = await one.expect("invoke");
  expect(Math.abs(Date.parse(not_after) - Date.now())).toBeLessThan(90_000);
  one.result(command_id);
  expect((await ended(at, ann, run)).summary.ok).toBe(1);
  one.cut();
});

test("a daemon below the least version delivers what it has and is sent away", async () => {
  const one = await daemonOf(at, ann);
  one.version = "0.9.0";
  await one.welcome();
  const run = await invoke(at, ann, [one]);
  const { command_id } = await one.expect("invoke");
  one.started(command_id);
  await one.settled();
  one.cut();
  const welcome = await through(other, one).welcome({ commands: [{ command_id, state: "running" }] });
  expect(welcome.min_version).toBe("1.0.0");
  expect((await hostOf(at, ann, one)).not_accepting).toEqual(["outdated"]);
  one.result(command_id);
  expect((await ended(at, ann, run)).summary.ok).toBe(1);
  expect((await one.end()).code).toBe(4010);
});

test("a node killed and Redis flushed with commands in flight: true results", async () => {
  const [done, running] = [through(other, await daemonOf(at, ann)), through(other, await daemonOf(at, ann))];
  for (const daemon of [done, running]) await daemon.welcome();
  const run = await invoke(at, ann, [done, running]);
  const [first, second] = [await done.expect("invoke"), await running.expect("invoke")];
  running.started(second.command_id);
  await running.settled();
  const away = through(other, await daemonOf(at, ann));
  await away.welcome();
  await other.kill();
  const redis = openRedis(own.redisUrl);
  await redis.flushall();
  redis.disconnect();
  // One had finished, and nothing was heard of it.
  await through(at.node, done).welcome({
    commands: [{ command_id: first.command_id, state: "finished" }],
    journal_seq: 2,
  });
  await through(at.node, running).welcome({ commands: [{ command_id: second.command_id, state: "running" }] });
  done.result(first.command_id, { status: "err", exit_code: 3, error_kind: "nonzero_exit" });
  running.result(second.command_id);
  expect((await ended(at, ann, run, 30_000)).summary).toMatchObject({ ok: 1, err: 1 });
  expect([...done.all("invoke"), ...running.all("invoke")]).toEqual([]);
  // What people decided meanwhile, and no actor has heard of, is told by the next round.
  const { sql } = at.stores;
  await sql`update edge_hosts set revoked_at = clock_timestamp() where id = ${done.host.id}`;
  await sql`update edge_hosts set held = true where id = ${running.host.id}`;
  await other.restart();
  await done.expect("revoked", () => true, 40_000);
  expect((await done.end()).code).toBe(4003);
  await until(async () => (await hostOf(at, ann, running)).not_accepting.join() === "held", { timeoutMs: 40_000 });
  // One that does not come back is found to be away.
  await until(async () => (await hostOf(at, ann, away)).status === "disconnected", { timeoutMs: 40_000, everyMs: 200 });
});

test("all nodes leave one by one while 200 hosts run: each command once", async () => {
  const daemons: ScriptedDaemon[] = [];
  for (let from = 0; from < 200; from += 20)
    daemons.push(...(await Promise.all(Array.from({ length: 20 }, () => daemonOf(at, ann)))));
  const invoked = new Map<ScriptedDaemon, string>();
  const connect = async (daemon: ScriptedDaemon, node: NodeProcess) => {
    const command_id = invoked.get(daemon);
    await through(node, daemon).welcome({
      commands: command_id === undefined ? [] : [{ command_id, state: "running" }],
    });
  };
  await Promise.all(daemons.map((daemon, index) => connect(daemon, index % 2 === 0 ? at.node : other)));
  const run = await invoke(at, ann, daemons);
  for (const daemon of daemons) {
    const { command_id } = await daemon.expect("invoke", () => true, 30_000);
    invoked.set(daemon, command_id);
    daemon.started(command_id);
  }
  await Promise.all(daemons.map((daemon) => daemon.settled()));
  for (const [leaving, staying] of [
    [at.node, other],
    [other, at.node],
  ] as const) {
    const here = daemons.filter(({ url }) => url === leaving.url);
    await Promise.all([
      leaving.stop(),
      ...here.map(async (daemon) => {
        expect((await daemon.end(20_000)).code).toBe(1012);
        await connect(daemon, staying);
      }),
    ]);
    await leaving.restart();
  }
  // Tokens of a development issuer end with its node.
  ann = await at.user("north", "ann", { expires_in: "3000" });
  for (const [daemon, command_id] of invoked) daemon.result(command_id);
  expect((await ended(at, ann, run, 30_000)).summary).toMatchObject({ ok: 200, failed: 0 });
  expect(daemons.flatMap((daemon) => daemon.all("invoke"))).toEqual([]);
  expect(daemons.flatMap(({ faults }) => faults)).toEqual([]);
  expect((await runOf(at, ann, run)).per_node[0]).toMatchObject({ attempt: 1, status: "ok", late: false });
  for (const daemon of daemons) daemon.cut();
});

test("Redis away: links stay open, and a node alone brings commands to their ends", async () => {
  await other.stop();
  const one = await daemonOf(at, ann);
  const { epoch } = await one.welcome();
  const run = await invoke(at, ann, [one], { retries: 1, retry_on: ["err"] });
  const first = await one.expect("invoke");
  await own.withoutRedis(async () => {
    one.heartbeat();
    await one.expect("ack");
    one.started(first.command_id);
    one.result(first.command_id, { status: "err", exit_code: 1, error_kind: "nonzero_exit" });
    await one.settled();
    const again = await one.expect("invoke", () => true, 20_000);
    expect(again).toMatchObject({ fleet_command_id: run, attempt: 2 });
    one.result(again.command_id);
    await one.settled();
  });
  expect((await ended(at, ann, run, 30_000)).summary).toMatchObject({ ok: 1, failed: 0 });
  expect([one.closed, one.faults, (await hostOf(at, ann, one)).connection.epoch]).toEqual([null, [], epoch]);
  one.cut();
});
