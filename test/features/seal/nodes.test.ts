/** Signed calls of several nodes, one of them with a wrong clock, and of nodes that were restarted (docs/reference/seal.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { deleteKeys } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { agentKey, call, envelope, type Headers, SealFixture, told } from "./fixture.ts";

const clock = join(import.meta.dir, "../../faults/machine-clock.ts");

let at: SealFixture;
/** Its machine is five minutes late. */
let late: NodeProcess;
let token: string;
const { privateKey, raw } = agentKey();
beforeAll(async () => {
  at = await SealFixture.open();
  late = await startNodeProcess(at.at.stores, {
    env: { SVC_LOG_LEVEL: "warn", BUN_OPTIONS: `--preload ${clock}`, SVC_TEST_CLOCK_MS: "-300000" },
  });
  const operator: Headers = { Authorization: `Bearer ${await at.node.token()}` };
  const asked = { public_key: raw.toString("base64") };
  token = (await at.outside("/v1/seal/attest", asked, operator)).body.security_token;
});
afterAll(async () => {
  await late?.dispose();
  await at?.close();
});

const ping = (offset = 0, second = Math.floor(Date.now() / 1000)): string => {
  const payload = JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method: "ping" });
  return envelope(privateKey, token, payload, String(second + offset));
};
const invoke = (node: NodeProcess, text: string) => at.outside("/v1/seal/invoke", text, {}, node);

const secondOfDatabase = async () => {
  const [row] = await at.at.stores.sql<{ second: number }[]>`
    select floor(extract(epoch from clock_timestamp()))::int as second`;
  return row?.second ?? 0;
};

/** An answer of the late node in the second, by the database's clock, that the envelope is so far from. */
const inOneSecond = (offset: number) =>
  until(
    async () => {
      const second = await secondOfDatabase();
      const answer = await invoke(late, ping(offset, second));
      return (await secondOfDatabase()) === second ? answer : null;
    },
    { what: "an answer within one second" },
  );

test("a node whose clock is five minutes off takes and refuses by the database's time", async () => {
  for (const offset of [-30, 30]) expect((await inOneSecond(offset)).status).toBe(200);
  for (const offset of [-31, 31, -300]) {
    expect(told(await inOneSecond(offset))).toEqual([401, 1003, "timestamp_out_of_window"]);
  }
});

test("an envelope is taken once by all nodes, also at the same moment", async () => {
  const text = ping();
  expect((await invoke(at.node, text)).status).toBe(200);
  expect(told(await invoke(late, text))).toEqual([401, 1007, "replay_detected"]);
  const other = ping();
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => invoke(n % 2 ? at.node : late, other)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("an envelope stays taken behind a loss of all that Redis held, and a kill", async () => {
  const text = ping();
  const written = envelope(privateKey, token, call("svc.runtime.list"));
  expect((await invoke(at.node, text)).status).toBe(200);
  expect((await invoke(at.node, written)).status).toBe(200);
  const { stores } = at.at;
  await deleteKeys(stores.redisServers ?? stores.redisUrl, stores.prefix);
  expect(told(await invoke(late, text))).toEqual([401, 1007, "replay_detected"]);
  await at.node.kill();
  await at.node.restart();
  expect(told(await invoke(at.node, text))).toEqual([401, 1007, "replay_detected"]);
  expect(told(await invoke(at.node, written))).toEqual([401, 1007, "replay_detected"]);
});

test("an incident of a revoked session survives a restart", async () => {
  const operator: Headers = { Authorization: `Bearer ${await at.node.token()}` };
  const { body } = await at.outside("/v1/seal/attest", { public_key: raw.toString("base64") }, operator);
  await at.node.call("DELETE", `/v1/seal/sessions/${body.session_id}`, { reason: "lost" });
  await at.node.stop();
  await at.node.restart();
  const { items } = (await at.node.call("GET", "/v1/security/incidents?category=seal_session_revoked")).body;
  expect(items).toContainEqual(expect.objectContaining({ session_id: body.session_id, severity: "medium" }));
  const of = (category: string) => at.node.call("GET", `/v1/security/incidents?category=${category}`);
  expect((await of("replay_detected")).body.count).toBeGreaterThan(0);
});
