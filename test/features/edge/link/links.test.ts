/** Which links a node takes, and how it ends them (docs/reference/edge-link.md). */
import { afterEach, expect, test } from "bun:test";
import { createHash, generateKeyPairSync } from "node:crypto";
import { CompactSign } from "jose";
import { enrollmentAudience, enrollmentIssuer } from "../../../../actors/edge/enrollment.ts";
import { unsignedText } from "../../../../actors/edge/frame-text.ts";
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { enrollmentMessage } from "../../../../actors/edge/signing.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { createDaemons } from "../../../../src/features/edge/enrollment/daemon.ts";
import { admission } from "../../../../src/features/edge/link/handshake/admission.ts";
import { createTelling } from "../../../../src/features/edge/link/incoming/telling.ts";
import { createUplink } from "../../../../src/features/edge/link/incoming/uplink.ts";
import type { LinkHooks } from "../../../../src/features/edge/link/link.ts";
import { createLinks, type Links } from "../../../../src/features/edge/link/links.ts";
import { createMetrics } from "../../../../src/features/edge/link/metrics.ts";
import type { Socket } from "../../../../src/http/sockets.ts";
import { MessageRejected } from "../../../../src/runtime/port.ts";
import { publicHalf, signed } from "../../../actors/edge/vectors.ts";
import { until } from "../../../harness/until.ts";
import { newKey } from "../fixture.ts";

const sql = (() => Promise.resolve([])) as never;
const metrics = createMetrics({ sql, beforeHello: () => 0, incidents: () => new Map() });

class FakeSocket implements Socket {
  readonly closes: [number, string][] = [];
  readonly sent: string[] = [];
  waiting = 0;
  send(text: string): void {
    this.sent.push(text);
    this.waiting += text.length;
  }
  unsent = (): number => this.waiting;
  close(code: number, reason: string): void {
    this.closes.push([code, reason]);
  }
  terminate(): void {}
}

let links: Links;
afterEach(() => links?.stop());
let ms = 0;

function opened(
  hooks: Partial<LinkHooks> = {},
  said: unknown[] = [],
  heartbeatMs = 30_000,
  now: () => number = () => 0,
) {
  links = createLinks({
    ...{ node: "n1", staleMs: 3 * heartbeatMs, heartbeatMs, steady: () => ms, now },
    ...{ helloWithinMs: 0, answerWithinMs: 5_000, retryAfterMs: () => 7_000 },
    hooks: { metrics, greet() {}, frame() {}, refused() {}, turnedAway: () => null, ...hooks },
    health: ({ isHealthy }) => said.push(isHealthy),
    closed: (link, longer) => said.push(["closed", link.epoch, longer]),
  });
  return said;
}
/** An open link of a host, or one that has ended as another has its place. */
function linked(hostId: string, epoch = 1) {
  const socket = new FakeSocket();
  const link = links.create("10.0.0.1");
  link.opened(socket);
  link.message("{}");
  const key = newKey();
  const connection = { hostId, serverNonce: link.serverNonce, clientNonce: "" };
  link.host = { id: hostId, tenant: "north", name: hostId, key, connection, signing: { kid: "edge-1", key } };
  link.epoch = epoch;
  if (links.take(link, hostId)) link.welcome(link.host, epoch, {});
  return { link, socket };
}

test("1,000 sockets of a node, and 20 of an address, wait for their welcome", () => {
  opened();
  for (let nth = 0; nth < 20; nth++) {
    const link = links.create("10.0.0.1");
    link.opened(new FakeSocket());
    if (nth % 2 === 0) link.message("{}");
  }
  expect(() => links.requireRoom("10.0.0.1")).toThrow("Too many links");
  expect(() => links.requireRoom("10.0.0.2")).not.toThrow();
  const last = links.create("10.0.1.0");
  for (let nth = 21; nth < 1000; nth++) links.create(`10.1.${nth >> 8}.${nth & 255}`);
  expect(() => links.requireRoom("10.0.0.2")).toThrow("no more links");
  last.closed();
  expect(() => links.requireRoom("10.0.0.2")).not.toThrow();
  linked("h1");
  expect(links.freshCount()).toBe(999);
});

test("a hello that is not answered in time is sent away, and the node is to blame", async () => {
  opened();
  const socket = new FakeSocket();
  const link = links.create("10.0.0.1");
  link.opened(socket);
  link.message("{}");
  ms += 5_000;
  await until(() => socket.closes.length > 0, { what: "a look at it" });
  expect([socket.closes, link.isToBlame, links.freshCount()]).toEqual([[[4013, "retry_after_ms=7000"]], true, 0]);
});

test("a silent link is unhealthy, healthy again by a heartbeat, and closed at last", async () => {
  const said = opened({}, [], 1_000);
  const { link, socket } = linked("h1");
  ms += 2_000;
  await until(() => said.length > 0, { what: "a look at it" });
  link.message(JSON.stringify({ t: "heartbeat", b: "{}" }));
  expect(said).toEqual([false, true]);
  ms += 3_000;
  await until(() => socket.closes.length > 0, { what: "another look at it" });
  expect(socket.closes).toEqual([[4002, "silent"]]);
});

test("what a host was told in vain, or too often, its next heartbeat tells", async () => {
  const told: (boolean | null)[] = [];
  let isAway = true;
  const steady = 0;
  const changed = createTelling({
    steady: () => steady,
    failed() {},
    async tell({ accepting }) {
      if (isAway) throw new Error("away");
      told.push(accepting);
    },
  });
  const uplink = createUplink({
    ...{ metrics, now: () => 0, changed, beat() {}, policyRefused() {}, rejected() {} },
    progress: {} as never,
    report: () => Promise.reject(new Error("nothing is reported")),
  });
  opened({ frame: uplink.frame });
  const { link } = linked("h1");
  uplink.opened(link, new Map(), null);
  const heartbeat = async (accepting: boolean) => {
    link.message(JSON.stringify({ t: "heartbeat", b: JSON.stringify({ running: 0, accepting }) }));
    await Promise.resolve();
  };
  await heartbeat(true);
  expect([told, link.isBehind]).toEqual([[], true]);
  isAway = false;
  await heartbeat(true);
  await heartbeat(true);
  expect([told, link.isBehind]).toEqual([[true], false]);
  for (let nth = 0; nth < 100; nth++) await heartbeat(nth % 2 === 1);
  expect([told.length, link.isBehind]).toEqual([3, true]);
});

test("little may come before a link is open", () => {
  opened();
  const socket = new FakeSocket();
  const link = links.create("10.0.0.1");
  link.opened(socket);
  link.message("{}");
  link.message("x".repeat(65_536));
  expect(socket.closes).toEqual([]);
  link.message("x");
  expect(socket.closes).toEqual([[4000, "too much before the welcome"]]);
});

test("what a daemon does not read is bounded: it is sent away for a while", () => {
  const said = opened();
  const { link, socket } = linked("h1");
  socket.waiting = frameLimits.maxUnsentBytes;
  link.send("ack", { seq: 1 });
  expect(socket.closes).toEqual([[4013, "retry_after_ms=1000"]]);
  expect(said).toEqual([["closed", 1, true]]);
});

const droppedBytes = async () => (await metrics.dropped.get()).values.reduce((sum, { value }) => sum + value, 0);
const acksOf = (socket: FakeSocket) =>
  socket.sent.flatMap((text) => {
    const { t, b } = JSON.parse(text);
    return t === "ack" ? [JSON.parse(b)] : [];
  });

test("of a command's output no more than it may have is passed on, over all links", async () => {
  const outputs: number[] = [];
  const uplink = createUplink({
    ...{ metrics, now: () => 0, changed() {}, beat() {}, policyRefused() {}, rejected() {} },
    progress: { output: (_, __, { bytes }) => void outputs.push(bytes.length), step() {}, async ended() {} },
    report: async () => ({ current: true, unfinished: 0, ended: [] }),
  });
  opened({ frame: uplink.frame });
  const command_id = crypto.randomUUID();
  const data = Buffer.alloc(1_000).toString("base64");
  const before = await droppedBytes();
  for (const epoch of [1, 2]) {
    const { link } = linked("h1", epoch);
    uplink.opened(link, new Map([[command_id, { runId: "r1", maxBytes: 2_500 }]]), null);
    for (const stream of ["stdout", "stderr"])
      link.message(unsignedText("progress", JSON.stringify({ command_id, stream, offset: epoch * 1_000, data })));
    expect(link.isOpen).toBe(true);
  }
  expect(outputs).toEqual([1_000, 1_000, 500]);
  expect((await droppedBytes()) - before).toBe(1_500);
});

test("what a host can never take is acknowledged, and what came with it is taken", async () => {
  const taken: string[][] = [];
  let rejected = 0;
  const bad = crypto.randomUUID();
  const uplink = createUplink({
    ...{ metrics, now: () => 0, changed() {}, beat() {}, policyRefused() {} },
    rejected() {
      rejected += 1;
    },
    progress: { output() {}, step() {}, async ended() {} },
    async report(_, reports) {
      const ids = reports.map((report) => ("command_id" in report ? report.command_id : ""));
      if (ids.includes(bad)) throw new MessageRejected("the turn failed");
      taken.push(ids);
      return { current: true, unfinished: 0, ended: [] };
    },
  });
  opened();
  const { link, socket } = linked("h1");
  uplink.opened(link, new Map(), null);
  const ids = [crypto.randomUUID(), crypto.randomUUID(), bad, crypto.randomUUID()];
  for (const [at, command_id] of ids.entries())
    uplink.frame(link, "started", JSON.stringify({ command_id, started_at: "2026-01-01T00:00:00Z" }), at + 2);
  await until(() => acksOf(socket).at(-1)?.seq === 5, { what: "the ack of all" });
  expect(taken.flat()).toEqual(ids.filter((id) => id !== bad));
  expect([rejected, link.isOpen]).toEqual([1, true]);
});

test("output beyond the window is dropped and counted, and the window opens again", async () => {
  const outputs: number[] = [];
  const uplink = createUplink({
    ...{ metrics, now: () => 0, changed() {}, beat() {}, policyRefused() {}, rejected() {} },
    progress: {
      output: (_, run, { offset }) => void outputs.push(run === "r1" ? offset : -1),
      step() {},
      async ended() {},
    },
    report: async () => ({ current: true, unfinished: 0, ended: [] }),
  });
  opened({ frame: uplink.frame });
  const { link, socket } = linked("h1");
  const command_id = crypto.randomUUID();
  uplink.opened(link, new Map([[command_id, { runId: "r1", maxBytes: 1 << 24 }]]), null);
  const bytes = 16_384;
  const window = frameLimits.outputWindow / bytes;
  const data = Buffer.alloc(bytes, 0xff).toString("base64");
  const say = (nth: number) =>
    link.message(unsignedText("progress", JSON.stringify({ command_id, stream: "stdout", offset: nth * bytes, data })));
  const before = await droppedBytes();
  for (let nth = 0; nth < 10 * window; nth++) say(nth);
  expect(outputs).toEqual(Array.from({ length: window }, (_, nth) => nth * bytes));
  expect((await droppedBytes()) - before).toBe(9 * window * bytes);
  await until(() => acksOf(socket).length > 0, { what: "the ack" });
  expect(acksOf(socket)).toEqual([{ seq: 1, credit: frameLimits.outputWindow }]);
  say(10 * window);
  expect(outputs).toHaveLength(window + 1);
  expect(link.isOpen).toBe(true);
});

test("an older epoch and a revocation end a link, its own standing does not", () => {
  opened();
  const [moved, gone, own] = [linked("h1"), linked("h2"), linked("h3")];
  links.stands("h1", { epoch: 2, owner: "n2", revokedAt: null });
  links.stands("h2", { epoch: 2, owner: null, revokedAt: 1 });
  links.stands("h3", { epoch: 1, owner: "n1", revokedAt: null });
  expect(moved.socket.closes.map(([code]) => code)).toEqual([4009]);
  expect(gone.socket.closes.map(([code]) => code)).toEqual([4003]);
  expect(own.socket.closes).toEqual([]);
});

test("of two links of a host the one of the later epoch stays", () => {
  opened();
  const [first, third] = [linked("h1"), linked("h1", 3)];
  expect(first.socket.closes.map(([code]) => code)).toEqual([4009]);
  const second = linked("h1", 2);
  expect(second.socket.closes.map(([code]) => code)).toEqual([4009]);
  expect([links.linkOf("h1") === third.link, third.socket.closes]).toEqual([true, []]);
});

test("a node that leaves takes no links, and closes those that it has with 1012", async () => {
  opened();
  const all = [linked("h1"), linked("h2")];
  await links.leave();
  expect(all.map(({ socket }) => socket.closes[0]?.[0])).toEqual([1012, 1012]);
  expect(() => links.requireRoom("10.0.0.2")).toThrow("no more links");
});

test("without the time of the database no link, enrollment or rotation is taken", async () => {
  const unknown = () => {
    throw new Problem("service_unavailable", "The time of the database is not known here");
  };
  opened({}, [], 30_000, unknown);
  expect(() => links.create(null)).toThrow("The time of the database");
  expect(links.freshCount()).toBe(0);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const daemons = createDaemons({
    ...{ sql, databaseNow: unknown, info() {}, records: {}, hosts: {}, incidents: {} },
    keys: { find: async () => publicKey },
    tenants: { find: async () => ({ slug: "north", status: "active" }) },
  } as never);
  const host = newKey();
  const public_key = publicHalf(host);
  const claims = {
    ...{
      jti: crypto.randomUUID(),
      tid: "north",
      sub: "ann",
      aud: enrollmentAudience,
      iss: enrollmentIssuer,
      nbf: 1,
      exp: 2,
    },
    ...{ cep: "here:1", url: "http://here:1", skt: "x" },
  };
  const text = new TextEncoder().encode(JSON.stringify(claims));
  const token = await new CompactSign(text).setProtectedHeader({ alg: "EdDSA", kid: "edge-1" }).sign(privateKey);
  const signature = signed(host, enrollmentMessage(public_key, createHash("sha256").update(token).digest("hex")));
  const request = new Request("http://here") as never;
  const signatures = { signature_old: signature, signature_new: signature };
  const rotation = { node_id: crypto.randomUUID(), new_public_key: public_key, issued_at: 1, ...signatures };
  const refused = async (asked: Promise<unknown>) => asked.catch(({ status, code }: Problem) => [status, code]);
  const expected = [503, "service_unavailable"];
  expect(await refused(daemons.enroll(request, { token, public_key, signature }))).toEqual(expected);
  expect(await refused(daemons.rotate(request, rotation))).toEqual(expected);
});

test("so many hellos a second are admitted, and no more", () => {
  let now = 0;
  const admits = admission(200, () => now);
  const count = () => Array.from({ length: 500 }, () => admits.admits()).filter(Boolean).length;
  expect(count()).toBe(200);
  now += 500;
  expect(count()).toBe(100);
});
