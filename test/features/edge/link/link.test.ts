/** Links of scripted daemons to a node: handshakes, frames, commands and their ends (docs/reference/edge-link.md). */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import type { ScriptedDaemon } from "../../../harness/edge/scripted-daemon.ts";
import { until } from "../../../harness/until.ts";
import { EdgeFixture, type Headers, newKey, told } from "../fixture.ts";
import { RunReader } from "../fleet/fixture.ts";
import { daemonOf, ended, hostOf, invoke, runOf } from "./fixture.ts";

let at: EdgeFixture;
let ann: Headers;
const open: ScriptedDaemon[] = [];
/** Says nothing from the beginning on. */
let silent: ScriptedDaemon;
/** Hosts whose frames were refused. */
const refused: string[] = [];

beforeAll(async () => {
  at = await EdgeFixture.open();
  ann = await at.user("north", "ann");
  silent = await daemonOf(at, ann);
  await silent.connect();
});
afterEach(() => {
  // Every frame of the service was signed by a key of its own, and counted.
  for (const daemon of open.splice(0)) {
    expect(daemon.faults).toEqual([]);
    daemon.cut();
  }
});
afterAll(() => at?.close());

async function daemon(body: object = {}): Promise<ScriptedDaemon> {
  const made = await daemonOf(at, ann, body);
  open.push(made);
  return made;
}
const incidents = async (category: string, id: string) => {
  const { body } = await at.node.call("GET", `/v1/security/incidents?category=${category}`, undefined, ann);
  return body.incidents.filter((one: { details: { node_id: string } }) => one.details.node_id === id);
};

test("a right hello is welcomed by a key that is pinned, and the record shows it", async () => {
  const one = await daemon({ name: "web-1" });
  const pinned = [...one.serviceKeys.keys()];
  const welcome = await one.welcome();
  expect(welcome).toMatchObject({
    epoch: 1,
    heartbeat_ms: 30_000,
    stale_ms: 90_000,
    output_window: 262_144,
    min_version: null,
  });
  expect(pinned).toContain(welcome.service_keys[0].kid);
  expect(one.frames[1]).toMatchObject({ t: "welcome", s: 1 });
  one.heartbeat(true, 3);
  await one.expect("ack");
  expect(await hostOf(at, ann, one)).toMatchObject({
    ...{ status: "connected", connected: true, accepting: true, os: "linux", arch: "x86_64", slots: 4 },
    ...{ boot_id: one.bootId, agent_version: "1.0.0", connection: { epoch: 1 }, recent_commands: [] },
    capabilities: { local_tools: ["shell"], tools: ["cmd.run"] },
  });
});

test.each([
  ["of another key", 4001, (one: ScriptedDaemon) => one.hello({}, { key: newKey() })],
  ["without a body", 4000, (one: ScriptedDaemon) => one.send("hello", {})],
  ["numbered 2", 4000, (one: ScriptedDaemon) => one.hello({}, { s: 2 })],
  ["without journal_seq", 4000, (one: ScriptedDaemon) => one.hello({ journal_seq: undefined })],
  ["without boot_id", 4000, (one: ScriptedDaemon) => one.hello({ boot_id: undefined })],
  [
    "of a daemon that knows no key of the service",
    4001,
    (one: ScriptedDaemon) => one.hello({ service_kids: ["edge-0"] }),
  ],
  ["of 65 KiB", 4000, (one: ScriptedDaemon) => one.hello({ padding: "x".repeat(65 * 1024) })],
  ["that is binary", 4000, (one: ScriptedDaemon) => one.raw(new Uint8Array([1, 2, 3]))],
])("a hello %s is refused", async (_, code, say) => {
  const one = await daemon();
  await one.connect();
  say(one);
  expect((await one.end()).code).toBe(code);
});

test("a hello over another nonce ends the link", async () => {
  const one = await daemon();
  await one.connect();
  one.hello({ client_nonce: Buffer.alloc(32, 1).toString("base64") });
  expect((await one.end()).code).toBe(4001);
});

test("a request that is no WebSocket, or of no known subprotocol, is refused", async () => {
  const path = "/v1/edge/connect";
  expect(told(await at.node.call("GET", path))).toEqual([426, "upgrade_required"]);
  const headers = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" };
  const answer = await at.node.call("GET", path, undefined, {
    ...headers,
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
  });
  expect(told(answer)).toEqual([400, "subprotocol_required"]);
});

test("both keys connect until the next one has; then the former one is an incident", async () => {
  const one = await daemon();
  const next = newKey();
  expect((await at.rotate(one.host.id, one.host.key, next)).status).toBe(200);
  await one.welcome();
  one.cut();
  const renewed = await daemonOf(at, ann);
  Object.assign(renewed, { host: { id: one.host.id, key: next } });
  open.push(renewed);
  expect((await renewed.welcome()).epoch).toBe(2);
  await one.connect();
  one.hello();
  expect((await one.end()).code).toBe(4001);
  expect(await until(async () => (await incidents("edge_former_key_used", one.host.id))[0])).toMatchObject({
    severity: "high",
  });
});

test.each([
  ["a repeated number", (one: ScriptedDaemon) => one.send("started", {}, { s: 1 })],
  ["an altered body", (one: ScriptedDaemon) => one.send("started", { command_id: "x" }, { signedBody: "{}" })],
  ["another key's signature", (one: ScriptedDaemon) => one.send("started", {}, { key: newKey() })],
  ["no signature", (one: ScriptedDaemon) => one.sendUnsigned("started", {})],
])("a frame with %s ends the link", async (_, say) => {
  const one = await daemon();
  await one.welcome();
  say(one);
  expect((await one.end()).code).toBe(4000);
  refused.push(one.host.id);
});

test("frames of unknown types count and change nothing", async () => {
  const one = await daemon();
  await one.welcome();
  one.sendUnsigned("gossip", { a: 1 });
  one.send("poem", { lines: 3 });
  await one.settled();
  expect(one.acked).toBe(2);
});

test("a command goes out, starts, streams and ends; the run has its result", async () => {
  const one = await daemon();
  await one.welcome();
  const run = await invoke(at, ann, [one]);
  const sent = await one.expect("invoke");
  expect(sent).toMatchObject({
    ...{ fleet_command_id: run, attempt: 1, tool: "cmd.run", args: { command: "uptime" }, security_context: null },
    ...{ requested_by: { sub: expect.any(String), tenant_id: expect.any(String) }, timeout_ms: 60_000 },
    max_output_bytes: 1_048_576,
  });
  one.started(sent.command_id);
  one.progress(sent.command_id, 0, Buffer.from("up 3 days\n"));
  one.result(sent.command_id, { stdout_tail: "up 3 days\n", structured: { exit_code: 0 } });
  const { summary } = await ended(at, ann, run);
  expect(summary).toMatchObject({ ok: 1, failed: 0 });
  await one.settled();
  expect(one.credit).toBe(10);
  const { per_node } = await runOf(at, ann, run);
  expect(per_node).toMatchObject([
    { command_id: sent.command_id, status: "ok", exit_code: 0, stdout_tail: "up 3 days\n", late: false, attempt: 1 },
  ]);
  const { recent_commands } = await hostOf(at, ann, one);
  expect(recent_commands).toMatchObject([{ command_id: sent.command_id, fleet_command_id: run, outcome: "ok" }]);
});

test("a link cut behind the start brings one result and no second invoke", async () => {
  const one = await daemon();
  await one.welcome();
  const run = await invoke(at, ann, [one]);
  const { command_id } = await one.expect("invoke");
  one.started(command_id);
  await one.settled();
  one.cut();
  await one.welcome({ commands: [{ command_id, state: "running" }] });
  one.result(command_id);
  expect((await ended(at, ann, run)).summary.ok).toBe(1);
  expect(one.all("invoke")).toEqual([]);
});

test("a link cut behind the invoke brings the same command again", async () => {
  const one = await daemon();
  await one.welcome();
  const run = await invoke(at, ann, [one]);
  const { command_id } = await one.expect("invoke");
  one.cut();
  await one.welcome();
  expect((await one.expect("invoke")).command_id).toBe(command_id);
  one.result(command_id);
  expect((await ended(at, ann, run)).summary.ok).toBe(1);
});

test("a result that comes twice is stored once, one for a lost command is late", async () => {
  const one = await daemon();
  await one.welcome();
  const run = await invoke(at, ann, [one], { disconnect_grace_secs: 0 });
  const { command_id } = await one.expect("invoke");
  one.started(command_id);
  await one.settled();
  one.close(1000);
  expect((await ended(at, ann, run)).summary).toMatchObject({ lost: 1, ok: 0 });
  await one.welcome({ commands: [{ command_id, state: "finished" }] });
  one.result(command_id, { stdout_tail: "after all" });
  one.result(command_id, { stdout_tail: "once more" });
  await one.settled();
  const { per_node, summary } = await runOf(at, ann, run);
  expect(summary).toMatchObject({ lost: 1, ok: 0 });
  expect(per_node).toMatchObject([
    { status: "lost", late: true, stdout_tail: "after all", error_kind: "edge_disconnected" },
  ]);
});

test("revoking a host during a run ends it; its daemon is told so, now and for ever", async () => {
  const one = await daemon();
  await one.welcome({ slots: 1 });
  const runs = [await invoke(at, ann, [one]), await invoke(at, ann, [one])];
  const { fleet_command_id } = await one.expect("invoke");
  expect((await at.call("DELETE", `hosts/${one.host.id}`, ann)).status).toBe(204);
  expect(await one.expect("revoked", () => true, 2_000)).toMatchObject({ node_id: one.host.id });
  expect((await one.end(2_000)).code).toBe(4003);
  for (const run of runs) {
    const { per_node } = await ended(at, ann, run).then(() => runOf(at, ann, run));
    const status = run === fleet_command_id ? "lost" : "cancelled";
    expect(per_node).toMatchObject([{ status, reason: "RevokedDuringDispatch" }]);
  }
  await one.connect();
  one.hello();
  await one.expect("revoked");
  expect(one.frames.at(-1)).toMatchObject({ t: "revoked", s: 1 });
  expect((await one.end()).code).toBe(4003);
  expect(told(await at.enroll(await at.token(ann), one.host.key))).toEqual([409, "key_in_use"]);
});

test("a held host, and one that is cloned, wait until a person accepts", async () => {
  const one = await daemon();
  const two = await daemonOf(at, ann);
  Object.assign(two, { host: one.host });
  open.push(two);
  await one.welcome();
  const held = await at.call("PATCH", `hosts/${one.host.id}`, ann, { accepting: false });
  expect(held.body).toMatchObject({ accepting: false, not_accepting: ["held"] });
  expect((await at.call("PATCH", `hosts/${one.host.id}`, ann, { accepting: true })).body.not_accepting).toEqual([]);
  for (const clone of [two, one, two]) await clone.welcome();
  expect((await one.end()).code).toBe(4009);
  expect((await hostOf(at, ann, one)).not_accepting).toEqual(["cloned"]);
  const preview = await at.call("POST", "fleet/preview", ann, { target: { Node: one.host.id } });
  expect(preview.body.skipped).toMatchObject([{ reason: "NotAccepting" }]);
  await until(async () => (await incidents("edge_host_cloned", one.host.id)).length === 1);
  expect((await at.call("PATCH", `hosts/${one.host.id}`, ann, { accepting: true })).body.accepting).toBe(true);
});

test("a daemon that stops accepting, and accepts again, is known as such", async () => {
  const one = await daemon();
  await one.welcome();
  one.heartbeat(false);
  await until(async () => (await hostOf(at, ann, one)).not_accepting.join() === "daemon");
  one.heartbeat(true);
  await until(async () => (await hostOf(at, ann, one)).accepting);
});

test("a frame whose wake-up was lost is sent some seconds later, once", async () => {
  const one = await daemon();
  await one.welcome();
  const command_id = crypto.randomUUID();
  await at.stores.sql`
    insert into edge_frames (tenant, host_id, epoch, node, kind, command_id, body, created_at)
    select tenant, id, epoch, owner_node, 'cancel', ${command_id}, '{"reason":"late"}',
      clock_timestamp() - interval '6 seconds'
    from edge_hosts where id = ${one.host.id}`;
  expect(await one.expect("cancel")).toEqual({ command_id, reason: "late", grace_ms: 5_000 });
  await until(
    async () => (await at.stores.sql`select 1 from edge_frames where command_id = ${command_id}`).count === 0,
  );
  expect(one.all("cancel")).toHaveLength(1);
});

test("a flood of output, and a reader of it that stands still, hold nothing up", async () => {
  const one = await daemon();
  await one.welcome();
  const run = await invoke(at, ann, [one]);
  const { command_id } = await one.expect("invoke");
  one.started(command_id);
  await one.settled();
  const path = `/v1/edge/fleet/runs/${run}/stream`;
  const standing = connect(at.node.port, "127.0.0.1").pause();
  standing.write(`GET ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: ${ann.Authorization}\r\n\r\n`);
  const reader = new RunReader(`${at.node.url}${path}`, { headers: ann });
  await reader.first("fleet_started");
  const piece = Buffer.alloc(16_384, 0xff);
  const bytes = 512 * piece.length;
  // It takes no notice of what it is given back.
  for (let offset = 0; offset < bytes; offset += piece.length) one.progress(command_id, offset, piece);
  one.heartbeat();
  one.result(command_id, { stdout_bytes: bytes, truncated: true });
  expect(await reader.end()).toMatchObject({ status: "complete", summary: { ok: 1 } });
  await one.settled();
  expect([one.closed, standing.destroyed]).toEqual([null, false]);
  for (const { credit = 0 } of one.all("ack")) expect(credit).toBeLessThanOrEqual(262_144);
  expect((await runOf(at, ann, run)).per_node).toMatchObject([{ stdout_bytes: bytes, truncated: true }]);
  standing.destroy();
});

test("lists show hosts by label and status, groups the status of members", async () => {
  const zone = await daemon({ name: "zone-b", tags: ["listed"] });
  await zone.welcome({ capabilities: { ...zone.capabilities, labels: { zone: "b", tier: "1" } } });
  await daemon({ name: "zone-c", tags: ["listed"] });
  const names = async (query: string) =>
    (await at.call("GET", `hosts?tag=listed&${query}`, ann)).body.hosts.map(({ name }: { name: string }) => name);
  expect(await names("label=zone=b&label=tier=1")).toEqual(["zone-b"]);
  expect(await names("label=zone=b&label=tier=2")).toEqual([]);
  expect(await names("connected=false")).toEqual(["zone-c"]);
  expect(await names("status=connected")).toEqual(["zone-b"]);
  const group = await at.call("POST", "groups", ann, { name: "listed", selector: { tags: ["listed"] } });
  const { body } = await at.call("GET", `groups/${group.body.id}`, ann);
  expect(body.resolved_members).toMatchObject([{ status: "connected" }, { status: "disconnected" }]);
});

test("the 21st socket of an address without a hello is refused", async () => {
  const one = await daemon();
  await one.welcome();
  const address = at.address();
  const many = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const fresh = await daemonOf(at, ann);
      Object.assign(fresh, { address });
      open.push(fresh);
      return fresh.connect();
    }),
  );
  const headers = {
    ...{ Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13", "X-Forwarded-For": address },
    ...{ "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": "svc-edge.v1" },
  };
  expect(told(await at.node.call("GET", "/v1/edge/connect", undefined, headers))).toEqual([429, "rate_limited"]);
  one.heartbeat();
  await one.expect("ack");
  expect(many.every(({ closed }) => closed === null)).toBe(true);
});

test("each frame that was refused is an incident of its host", async () => {
  expect(refused).toHaveLength(4);
  for (const id of refused) await until(async () => (await incidents("edge_frame_refused", id)).length === 1);
});

test("a daemon that says no hello within 10 s is sent away", async () => {
  expect((await silent.end(15_000)).code).toBe(4008);
});

test("heartbeats reach the record of their host, while its link is its own", async () => {
  const one = await daemon();
  await one.welcome();
  // The link of this one is another node's, and word of it was lost.
  const moved = await daemon();
  await moved.welcome();
  await at.stores.sql`
    update edge_hosts set epoch = epoch + 1, owner_node = 'another' where id = ${moved.host.id}`;
  moved.heartbeat(true, 3);
  one.heartbeat(true, 3);
  await one.expect("ack");
  const known = await until(
    async () => {
      const host = await hostOf(at, ann, one);
      return host.last_heartbeat_at === null ? null : host;
    },
    { timeoutMs: 15_000, everyMs: 200 },
  );
  expect(known).toMatchObject({ status: "connected", running: 3, last_seen_at: expect.any(String) });
  expect(one.closed).toBeNull();
  expect((await moved.end()).code).toBe(4009);
  expect(await hostOf(at, ann, moved)).toMatchObject({ last_heartbeat_at: null, running: 0 });
});
