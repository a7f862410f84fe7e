import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { NetworkRules } from "../../../actors/policy/network/policy.ts";
import { readClientHello } from "../../../src/adapters/egress/client-hello.ts";
import { Source } from "../../../src/adapters/egress/source.ts";
import { clientHelloRefusal } from "../../../src/adapters/egress/tunnel.ts";
import { until } from "../../harness/until.ts";
import { type Fixture, hello, listenAnywhere, openFixture, openPeer, RawClient, records, request } from "./fixture.ts";

const disposers: (() => void)[] = [];
afterEach(() => {
  for (const step of disposers.splice(0).reverse()) step();
});

const allow = (...allowlist: string[]): NetworkRules => ({ mode: "allow", allowlist, denylist: [] });

/** A peer that echoes, and a fixture that lets `api.test` be reached there under the entries given. */
async function scene(entries: (port: number) => string[], answer = (piece: Buffer): Buffer | string => piece) {
  const peer = await openPeer((socket, piece) => void socket.write(answer(piece)));
  disposers.push(peer.stop);
  const proxy = await openFixture(allow(...entries(peer.port)));
  disposers.push(proxy.stop);
  proxy.names.set("api.test", [["127.0.0.1"]]);
  return { peer, proxy };
}
async function tunnel(proxy: Fixture, target: string): Promise<RawClient> {
  const agent = await RawClient.open(proxy.port);
  disposers.push(() => agent.close());
  agent.send(request(`CONNECT ${target} HTTP/1.1`, [`Host: ${target}`]));
  expect(await agent.take(/\r\n\r\n/)).toBe("HTTP/1.1 200 Connection Established\r\n\r\n");
  return agent;
}

test("other protocols pass to a listed port, whichever side begins", async () => {
  const { peer, proxy } = await scene((port) => [`api.test:${port}`, `127.0.0.1:${port}`]);
  const agent = await tunnel(proxy, `api.test:${peer.port}`);
  agent.send("SSH-2.0-x\r\n");
  expect(await agent.take(/\n/)).toBe("SSH-2.0-x\r\n");
  agent.send("more");
  expect(await agent.take(/more/)).toBe("more");
  expect(proxy.refusals).toEqual([]);
});

test("a server that speaks first is heard before the client says anything", async () => {
  const server = await openPeer((socket, piece) => void socket.write(`you said ${piece}`));
  disposers.push(server.stop);
  server.onConnection((socket) => void socket.write("220 ready\r\n"));
  const proxy = await openFixture(allow(`127.0.0.1:${server.port}`));
  disposers.push(proxy.stop);
  const agent = await tunnel(proxy, `127.0.0.1:${server.port}`);
  expect(await agent.take(/ready\r\n/)).toBe("220 ready\r\n");
  agent.send("HELO");
  expect(await agent.take(/HELO/)).toBe("you said HELO");
});

test("the end of the instance is the tunnel's, on both sides and at once", async () => {
  const { peer, proxy } = await scene((port) => [`127.0.0.1:${port}`]);
  const agent = await tunnel(proxy, `127.0.0.1:${peer.port}`);
  agent.send("hello");
  expect(await agent.take(/hello/)).toBe("hello");
  proxy.cut();
  await agent.all();
  await until(() => peer.open() === 0, { timeoutMs: 1_000 });
  expect(proxy.taken()).toBe(0);
});

test("either side may end its half and still get the rest", async () => {
  const pieces: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("data", (piece) => pieces.push(String(piece)));
    socket.on("end", () => socket.end(`got ${pieces.join("").length}`));
  });
  disposers.push(() => server.close());
  const port = await listenAnywhere(server);
  const proxy = await openFixture(allow(`127.0.0.1:${port}`));
  disposers.push(proxy.stop);
  const agent = await tunnel(proxy, `127.0.0.1:${port}`);
  agent.socket.end("x".repeat(1_000_000));
  expect(await agent.all()).toBe("got 1000000");
  await until(() => proxy.taken() === 0, { timeoutMs: 3_000 });
});

test.each([
  ["the host's name", hello("api.test"), null],
  ["the host's name in capitals", hello("API.Test"), null],
  ["in many records", records(hello("api.test"), 7), null],
  ["another name", hello("evil.test"), "server_name_mismatch"],
  ["another name in many records", records(hello("evil.test"), 1), "server_name_mismatch"],
  ["a name below", hello("x.api.test"), "server_name_mismatch"],
  ["a name with a dot behind", hello("api.test."), "server_name_mismatch"],
  ["no name", hello(null), "server_name_mismatch"],
  ["two names", hello("api.test", "evil.test"), "server_name_mismatch"],
  ["a record of another kind between", Buffer.from([22, 3, 1, 0, 1, 1, 23, 3, 3, 0, 1, 0]), "server_name_mismatch"],
  ["a ClientHello that claims to be huge", Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]), "server_name_mismatch"],
] as const)("TLS that means %s", async (_, bytes, reason) => {
  const { peer, proxy } = await scene((port) => [`api.test:${port}`, `127.0.0.1:${port}`]);
  const agent = await tunnel(proxy, `api.test:${peer.port}`);
  agent.send(bytes);
  if (reason === null) {
    await until(() => peer.heard().length === bytes.length);
    expect(Buffer.from(peer.heard(), "latin1").equals(bytes)).toBe(true);
    return;
  }
  expect(await agent.all()).toBe("");
  expect(proxy.refusals.map((refusal) => refusal.reason)).toEqual([reason]);
  expect(peer.heard()).toBe("");
});

test("to an address TLS sends no name, or that address", async () => {
  const { peer, proxy } = await scene((port) => [`127.0.0.1:${port}`]);
  const agent = await tunnel(proxy, `127.0.0.1:${peer.port}`);
  agent.send(hello(null));
  await until(() => peer.heard().length > 0);
  const other = await tunnel(proxy, `127.0.0.1:${peer.port}`);
  other.send(hello("api.test"));
  await other.all();
  expect(proxy.refusals.map((refusal) => refusal.reason)).toEqual(["server_name_mismatch"]);
});

test.each([
  ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "not_tls"],
  ["an old hello", Buffer.from([0x80, 0x2e, 1, 3, 1]), "not_tls"],
  ["nothing", Buffer.alloc(0), "not_tls"],
  ["half a hello", hello("api.test").subarray(0, 30), "not_tls"],
  ["TLS", hello("api.test"), null],
] as const)("where the port is not written, %s before the end is %p", async (_, bytes, reason) => {
  const sources: Source[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => sources.push(new Source(socket)));
  disposers.push(() => server.close());
  const agent = await RawClient.open(await listenAnywhere(server));
  disposers.push(() => agent.close());
  agent.socket.end(bytes);
  await until(() => sources.length === 1);
  const [source] = sources;
  if (source === undefined) throw new Error("unreachable");
  expect(await clientHelloRefusal(source, { host: "api.test", isName: true, anyProtocol: false })).toBe(reason);
});

test("no prefix of a ClientHello is taken for a whole one; noise breaks nothing", () => {
  const whole = records(hello("api.test"), 50);
  for (let end = 0; end < whole.length; end++) expect(readClientHello(whole.subarray(0, end)).kind).toBe("more");
  expect(readClientHello(Buffer.concat([whole, Buffer.from("early data")]))).toEqual({
    kind: "hello",
    serverName: "api.test",
  });
  const bytes = hello("api.test");
  for (let at = 0; at < bytes.length; at++) {
    for (const value of [0, 1, 127, 255]) {
      const broken = Buffer.from(bytes);
      broken[at] = value;
      expect(["more", "not_tls", "malformed", "hello"]).toContain(readClientHello(broken).kind);
    }
  }
});

test("a real TLS client and server meet through the tunnel; each end closes itself", async () => {
  const folder = join(import.meta.dir, "certificate");
  const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder, name), "utf8")) as [
    string,
    string,
  ];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert, key },
    fetch: async (asked) => new Response(`${asked.headers.get("host")} ${(await asked.bytes()).length}`),
  });
  disposers.push(() => void server.stop(true));
  const proxy = await openFixture(allow(`api.test:${server.port}`, `127.0.0.1:${server.port}`));
  disposers.push(proxy.stop);
  proxy.names.set("api.test", [["127.0.0.1"]]);
  const body = new Uint8Array(3_000_000).fill(7);
  const answer = await fetch(`https://api.test:${server.port}/`, {
    method: "POST",
    body,
    proxy: `http://svc:good@127.0.0.1:${proxy.port}`,
    tls: { ca: cert },
  });
  expect(await answer.text()).toBe(`api.test:${server.port} 3000000`);
  await until(() => proxy.outcomes.length > 0);
  expect(proxy.outcomes).toEqual(["forwarded"]);
});
