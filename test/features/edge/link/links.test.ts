/** Which links a node takes, and how it ends them (docs/reference/edge-link.md). */
import { afterEach, expect, test } from "bun:test";
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { admission } from "../../../../src/features/edge/link/admission.ts";
import type { LinkHooks } from "../../../../src/features/edge/link/link.ts";
import { createLinks, type Links } from "../../../../src/features/edge/link/links.ts";
import { createMetrics } from "../../../../src/features/edge/link/metrics.ts";
import { createTelling } from "../../../../src/features/edge/link/telling.ts";
import { createUplink } from "../../../../src/features/edge/link/uplink.ts";
import type { Socket } from "../../../../src/http/sockets.ts";
import { until } from "../../../harness/until.ts";
import { newKey } from "../fixture.ts";

const sql = (() => Promise.resolve([])) as never;
const metrics = createMetrics({ sql, beforeHello: () => 0, incidents: () => new Map() });

class FakeSocket implements Socket {
  readonly closes: [number, string][] = [];
  waiting = 0;
  send(text: string): void {
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

function opened(hooks: Partial<LinkHooks> = {}, said: unknown[] = [], heartbeatMs = 30_000) {
  links = createLinks({
    ...{ node: "n1", staleMs: 3 * heartbeatMs, heartbeatMs, steady: () => ms, now: () => 0 },
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
  links.heard(link);
  link.epoch = epoch;
  if (links.take(link, hostId)) link.welcome(link.host, epoch, {});
  return { link, socket };
}

test("1,000 sockets of a node, and 20 of an address, wait for their hello", () => {
  opened();
  for (let nth = 0; nth < 20; nth++) links.create("10.0.0.1");
  expect(() => links.requireRoom("10.0.0.1")).toThrow("Too many links");
  expect(() => links.requireRoom("10.0.0.2")).not.toThrow();
  const last = links.create("10.0.1.0");
  for (let nth = 21; nth < 1000; nth++) links.create(`10.1.${nth >> 8}.${nth & 255}`);
  expect(() => links.requireRoom("10.0.0.2")).toThrow("no more links");
  last.closed();
  expect(() => links.requireRoom("10.0.0.2")).not.toThrow();
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
    ...{ metrics, now: () => 0, changed, beat() {}, policyRefused() {} },
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

test("so many hellos a second are admitted, and no more", () => {
  let now = 0;
  const admits = admission(200, () => now);
  const count = () => Array.from({ length: 500 }, () => admits.admits()).filter(Boolean).length;
  expect(count()).toBe(200);
  now += 500;
  expect(count()).toBe(100);
});
