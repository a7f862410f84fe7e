/** What answers a rightly signed hello, whatever stands behind it meanwhile (docs/reference/edge-link.md). */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { signedText } from "../../../../../actors/edge/frame-text.ts";
import { type Connection, frameMessage } from "../../../../../actors/edge/signing.ts";
import type { HelloAsked, HelloReply } from "../../../../../actors/edge-host/messages.ts";
import type { KeyedHost } from "../../../../../src/features/edge/hosts/port.ts";
import { createGreeting, type GreetingOptions } from "../../../../../src/features/edge/link/handshake/greeting.ts";
import { Link } from "../../../../../src/features/edge/link/link.ts";
import { createMetrics } from "../../../../../src/features/edge/link/metrics.ts";
import { publicHalf, signed } from "../../../../actors/edge/vectors.ts";
import { until } from "../../../../harness/until.ts";
import { newKey } from "../../fixture.ts";

const sql = (() => Promise.resolve([])) as never;
const metrics = createMetrics({ sql, beforeHello: () => 0, incidents: () => new Map() });
const welcome: HelloReply = {
  ...{ outcome: "welcome", epoch: 1, superseded: null, accepting: true, in_flight: [], outdated: false },
  ...{ journal_replaced: false, cloned: false },
};

/** Says hello under a key, and waits for what comes of it: the code of a close, or `welcome`. */
async function greeted(changes: Partial<GreetingOptions>, states: readonly KeyedHost["state"][] = ["current"]) {
  const id = crypto.randomUUID();
  const key = newKey();
  const service = newKey();
  const former: string[] = [];
  let looks = 0;
  const greet = createGreeting({
    ...{ node: "n1", now: () => 0, heartbeatMs: 30_000, staleMs: 90_000, minVersion: null },
    keys: {
      common: async () => ({ kid: "edge-1", key: service, publicKey: publicHalf(service) }) as never,
      all: () => [],
    },
    hostOf: async () => {
      const state = states[Math.min(looks, states.length - 1)] ?? "current";
      looks += 1;
      return { id, tenant: "north", name: "web-1", state, revoked_at: null };
    },
    promote: async () => true,
    liveNodes: async () => ["n1"],
    ask: async () => welcome,
    formerKey: ({ id: host }) => void former.push(host),
    taken() {},
    welcomed() {},
    counted() {},
    ...changes,
  });
  let outcome: number | "welcome" | null = null;
  const hooks = { metrics, steady: () => 0, turnedAway: () => null, greet, frame() {}, refused() {}, ended() {} };
  const link = new Link(hooks, "n1:1", Buffer.alloc(32).toString("base64"), null, "{}");
  link.opened({
    send: (text) => {
      if (JSON.parse(text).t === "welcome") outcome = "welcome";
    },
    unsent: () => 0,
    close: (code) => {
      outcome = code;
    },
    terminate() {},
  });
  const client_nonce = Buffer.alloc(32, 1).toString("base64");
  const b = JSON.stringify({
    ...{ node_id: id, public_key: publicHalf(key), client_nonce, journal_id: id, journal_seq: 0, boot_id: id },
    ...{ agent_version: "1.0.0", service_kids: ["edge-1"], slots: 1, commands: [] },
    capabilities: { os: "linux", arch: "x86_64", local_tools: [], mount_points: [], labels: {} },
  });
  const connection: Connection = { hostId: id, serverNonce: link.serverNonce, clientNonce: client_nonce };
  const digest = createHash("sha256").update(b).digest("hex");
  link.message(signedText("hello", 1, b, signed(key, frameMessage("up", connection, "hello", 1, digest)), null));
  await until(() => outcome !== null, { what: "an answer" });
  return { outcome: outcome as number | "welcome" | null, isFormer: former.length > 0 };
}

test("a next key that another rotation dropped at that moment is a former one", async () => {
  const promote = async () => false;
  expect(await greeted({ promote }, ["next", "dropped"])).toEqual({ outcome: 4001, isFormer: true });
  // Two hellos under it came at once.
  expect(await greeted({ promote }, ["next", "current"])).toEqual({ outcome: "welcome", isFormer: false });
  expect(await greeted({}, ["next", "dropped"])).toEqual({ outcome: "welcome", isFormer: false });
});

test("a link that was the host's once is closed as superseded", async () => {
  expect((await greeted({ ask: async () => ({ outcome: "superseded" }) })).outcome).toBe(4009);
});

test.each([
  [["n1", "n2"], { live_nodes: ["n1", "n2"], dead_nodes: [] }],
  [["n1"], { live_nodes: ["n1"], dead_nodes: ["n2"] }],
])("a node that the host misses is looked for anew: %p", async (fresh, expected) => {
  const asked: HelloAsked[] = [];
  const { outcome } = await greeted({
    liveNodes: async (isFresh) => (isFresh ? fresh : ["n1"]),
    async ask(_, hello) {
      asked.push(hello);
      return asked.length === 1 ? { outcome: "unknown_node", node: "n2" } : welcome;
    },
  });
  expect(outcome).toBe("welcome");
  expect(asked).toMatchObject([{ live_nodes: ["n1"], dead_nodes: [] }, expected]);
});

test("a host whose link moves between unknown nodes is asked a few times only", async () => {
  let asked = 0;
  const ask = async (): Promise<HelloReply> => ({ outcome: "unknown_node", node: `n${2 + asked++}` });
  expect((await greeted({ ask })).outcome).toBe(4013);
  expect(asked).toBe(3);
});
