import { afterEach, expect, test } from "bun:test";
import type { NetworkRules } from "../../../actors/policy/network/policy.ts";
import { until } from "../../harness/until.ts";
import { type Fixture, goodCredentials, openFixture, openPeer, RawClient, request } from "./fixture.ts";

const disposers: (() => void)[] = [];
afterEach(() => {
  for (const step of disposers.splice(0).reverse()) step();
});

const allow = (...allowlist: string[]): NetworkRules => ({ mode: "allow", allowlist, denylist: [] });

async function peer(answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") {
  const opened = await openPeer((socket, piece) => {
    if (piece.includes("\r\n\r\n")) socket.write(answer);
  });
  disposers.push(opened.stop);
  return opened;
}
async function fixture(
  rules: NetworkRules | null,
  allowPrivate?: readonly string[],
  limits?: Parameters<typeof openFixture>[2],
): Promise<Fixture> {
  const opened = await openFixture(rules, allowPrivate, limits);
  disposers.push(opened.stop);
  return opened;
}
async function client(to: { port: number }): Promise<RawClient> {
  const opened = await RawClient.open(to.port);
  disposers.push(() => opened.close());
  return opened;
}
/** A fixture whose agent may call `api.test` at the peer's port. */
async function apiFixture(port: number): Promise<Fixture> {
  const opened = await fixture(allow(`api.test:${port}`, `127.0.0.1:${port}`));
  opened.names.set("api.test", [["127.0.0.1"]]);
  return opened;
}

test("a listed host is reached in origin form, without hop-by-hop fields", async () => {
  const server = await peer();
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  const { port } = server;
  agent.send(
    request(`GET http://API.test:${port}/a?b=c HTTP/1.1`, [
      `Host: api.test:${port}`,
      "Connection: keep-alive, X-Secret",
      "X-Secret: 1",
      "Keep-Alive: 5",
      "TE: trailers",
      "Upgrade: h2c",
      "Accept: */*",
    ]),
  );
  expect(await agent.take(/hi$/)).toBe("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nvia: 1.1 svc\r\n\r\nhi");
  expect(server.heard()).toBe(`GET /a?b=c HTTP/1.1\r\nhost: api.test:${port}\r\naccept: */*\r\nvia: 1.1 svc\r\n\r\n`);
  agent.send(request(`GET http://api.test:${port} HTTP/1.1`, [`Host: api.test:${port}`]));
  await agent.take(/hi$/);
  expect(server.heard()).toContain("GET / HTTP/1.1");
  expect(server.connections()).toBe(1);
  agent.close();
  await until(() => proxy.traffic.sent > 100 && proxy.traffic.received > 60);
  expect(proxy.failures).toEqual([]);
});

test("bodies pass in both directions, chunked or counted", async () => {
  const server = await openPeer((socket, piece) => {
    if (piece.includes("\r\n0\r\n\r\n") || piece.includes("counted")) {
      socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n");
      socket.write("3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nX: 1\r\n\r\n");
    }
  });
  disposers.push(server.stop);
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  const line = `POST http://api.test:${server.port}/ HTTP/1.1`;
  const host = `Host: api.test:${server.port}`;
  agent.send(request(line, [host, "Transfer-Encoding: chunked"], "4;evil\r\nwxyz\r\n0\r\nTrailer: 1\r\n\r\n"));
  const answer = await agent.take(/0\r\n\r\n$/);
  expect(answer).toStartWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n");
  expect(answer).toContain("transfer-encoding: chunked\r\n");
  expect(answer.split("\r\n\r\n")[2]).toBe("3\r\nabc\r\n2\r\nde\r\n0");
  expect(server.heard()).toEndWith("\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n");
  agent.send(request(line, [host, "Content-Length: 7"], "counted"));
  expect(await agent.take(/0\r\n\r\n$/)).toContain("abc");
  expect(server.heard()).toEndWith("content-length: 7\r\nvia: 1.1 svc\r\n\r\ncounted");
});

test("an answer ended by its connection is chunked, and unchanged for HTTP/1.0", async () => {
  const server = await openPeer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
  disposers.push(server.stop);
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  agent.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]));
  expect(await agent.take(/0\r\n\r\n$/)).toContain("9\r\nall of it\r\n0\r\n\r\n");
  const old = await client(proxy);
  old.send(request(`GET http://api.test:${server.port}/ HTTP/1.0`));
  expect(await old.all()).toBe("HTTP/1.1 200 OK\r\nvia: 1.1 svc\r\nconnection: close\r\n\r\nall of it");
});

test("a websocket passes, other protocols do not", async () => {
  const server = await openPeer((socket, piece) => {
    if (piece.includes("upgrade: websocket")) {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    } else if (piece.includes("ping")) socket.write("pong");
  });
  disposers.push(server.stop);
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  agent.send(
    request(`GET http://api.test:${server.port}/ws HTTP/1.1`, [
      `Host: api.test:${server.port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
    ]),
  );
  expect(await agent.take(/\r\n\r\n/)).toContain("101 Switching Protocols");
  agent.send("ping");
  expect(await agent.take(/pong/)).toBe("pong");
});

test.each([
  [null, "http://api.test/", "no_network"],
  [{ mode: "none", allowlist: ["api.test"], denylist: [] } as NetworkRules, "http://api.test/", "no_network"],
  [allow("api.test"), "http://other.test/", "not_allowlisted"],
  [allow("api.test"), "http://sub.api.test/", "not_allowlisted"],
  [allow("api.test"), "http://api.test:8080/", "port_not_allowed"],
  [allow("api.test"), "http://api.test./", "invalid_host"],
  [allow("api.test"), "http://api.test/", "loopback_address"],
  [allow("mixed.test"), "http://mixed.test/", "private_address"],
  [allow("meta.test"), "http://meta.test/", "metadata_address"],
  [allow("mapped.test"), "http://mapped.test/", "loopback_address"],
  [allow("127.0.0.1"), "http://127.0.0.1/", "loopback_address"],
  [allow("127.0.0.1"), "http://2130706433/", "invalid_host"],
  [allow("127.0.0.1"), "http://0177.0.0.1/", "invalid_host"],
  [allow("127.0.0.1"), "http://0x7f.1/", "invalid_host"],
  [allow("127.0.0.1"), "http://[::ffff:127.0.0.1]/", "loopback_address"],
  [allow("0.0.0.0"), "http://0.0.0.0/", "unspecified_address"],
  [allow("169.254.169.254"), "http://169.254.169.254/latest/meta-data/", "metadata_address"],
  [allow("paypal.com"), "http://xn--ypal-43d9g.com/", "not_allowlisted"],
  [allow(), "http://8.8.8.8/", "address_not_listed"],
] as const)("%j: %s is refused as %s", async (rules, url, reason) => {
  const proxy = await fixture(rules as NetworkRules | null, []);
  proxy.names.set("api.test", [["127.0.0.1"]]);
  proxy.names.set("mixed.test", [["93.184.216.34", "10.0.0.1"]]);
  proxy.names.set("meta.test", [["169.254.169.254"]]);
  proxy.names.set("mapped.test", [["::ffff:127.0.0.1"]]);
  const agent = await client(proxy);
  const authority = /^http:\/\/([^/]*)/.exec(url)?.[1] ?? "";
  agent.send(request(`GET ${url} HTTP/1.1`, [`Host: ${authority}`, "Connection: close"]));
  const answer = await agent.all();
  expect(answer).toStartWith("HTTP/1.1 403 Forbidden\r\n");
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "egress_denied", reason });
  expect(proxy.refusals.map((refusal) => refusal.reason)).toEqual([reason]);
  // The same over CONNECT.
  const tunnel = await client(proxy);
  const target = authority.includes(":8080") ? authority : `${authority}:80`;
  tunnel.send(request(`CONNECT ${target} HTTP/1.1`, [`Host: ${target}`, "Connection: close"]));
  expect(await tunnel.all()).toContain(`"reason":"${reason}"`);
});

test("a name is connected to by the checked address, not by a later one", async () => {
  const server = await peer();
  const proxy = await fixture(allow(`api.test:${server.port}`, `127.0.0.1:${server.port}`));
  proxy.names.set("api.test", [["127.0.0.1"], ["10.0.0.1"]]);
  const fields = [`Host: api.test:${server.port}`];
  const first = await client(proxy);
  first.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, fields));
  expect(await first.take(/hi$/)).toContain("200 OK");
  const second = await client(proxy);
  second.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, fields));
  expect(await second.take(/}$/)).toContain("private_address");
  expect(server.connections()).toBe(1);
});

test("a redirect is the client's next request, and is decided like any other", async () => {
  const server = await peer("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n");
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  agent.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]));
  expect(await agent.take(/\r\n\r\n/)).toContain("302 Found");
  agent.send(request("GET http://169.254.169.254/ HTTP/1.1", ["Host: 169.254.169.254"]));
  expect(await agent.take(/}$/)).toContain("403 Forbidden");
});

const absolute = "GET http://api.test/ HTTP/1.1";
test.each([
  ["no request line", "hello\r\n\r\n", "400"],
  ["origin form", request("GET / HTTP/1.1", ["Host: api.test"]), "400"],
  ["https in absolute form", request("GET https://api.test/ HTTP/1.1", ["Host: api.test"]), "400"],
  ["ftp", request("GET ftp://api.test/ HTTP/1.1", ["Host: api.test"]), "400"],
  ["user info", request("GET http://api.test@evil.test/ HTTP/1.1", ["Host: evil.test"]), "400"],
  ["user info in CONNECT", request("CONNECT api.test@evil.test:443 HTTP/1.1"), "400"],
  ["backslash", request("GET http://evil.test\\@api.test/ HTTP/1.1", ["Host: api.test"]), "400"],
  ["escaped host", request("GET http://api%2etest/ HTTP/1.1", ["Host: api.test"]), "400"],
  ["fragment", request("GET http://api.test/#x HTTP/1.1", ["Host: api.test"]), "400"],
  ["CONNECT without a port", request("CONNECT api.test HTTP/1.1"), "400"],
  ["CONNECT to port 0", request("CONNECT api.test:0 HTTP/1.1"), "400"],
  ["CONNECT to port 080", request("CONNECT api.test:080 HTTP/1.1"), "400"],
  ["CONNECT with a body", request("CONNECT api.test:443 HTTP/1.1", ["Content-Length: 3"], "abc"), "400"],
  ["CONNECT with a URL", request("CONNECT http://api.test:443/ HTTP/1.1"), "400"],
  ["no host", request("GET http:/// HTTP/1.1", ["Host: api.test"]), "400"],
  ["a bare line feed", `${absolute}\nHost: api.test\r\n\r\n`, "400"],
  ["a carriage return in a value", request(absolute, ["Host: api.test", "X: a\rb"]), "400"],
  ["NUL in a value", request(absolute, ["Host: api.test", "X: a\0b"]), "400"],
  ["a blank before the colon", request(absolute, ["Host: api.test", "Content-Length : 3"]), "400"],
  ["a folded line", request(absolute, ["Host: api.test", " folded"]), "400"],
  ["no Host", request(absolute), "400"],
  ["two Hosts", request(absolute, ["Host: api.test", "Host: api.test"]), "400"],
  ["another Host", request(absolute, ["Host: evil.test"]), "403"],
  ["another port in Host", request(absolute, ["Host: api.test:81"]), "403"],
  ["another Host in CONNECT", request("CONNECT api.test:80 HTTP/1.1", ["Host: evil.test:80"]), "403"],
  [
    "length and chunks",
    request(absolute, ["Host: api.test", "Content-Length: 3", "Transfer-Encoding: chunked"]),
    "400",
  ],
  ["two lengths", request(absolute, ["Host: api.test", "Content-Length: 3", "Content-Length: 4"]), "400"],
  ["a list of lengths", request(absolute, ["Host: api.test", "Content-Length: 3, 3"]), "400"],
  ["a signed length", request(absolute, ["Host: api.test", "Content-Length: +3"]), "400"],
  ["an encoding before chunked", request(absolute, ["Host: api.test", "Transfer-Encoding: gzip, chunked"]), "400"],
  ["two encodings", request(absolute, ["Host: api.test", "Transfer-Encoding: chunked", "Transfer-Encoding: x"]), "400"],
  ["an odd encoding", request(absolute, ["Host: api.test", "Transfer-Encoding: xchunked"]), "400"],
  ["HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"],
  ["a head without end", `${absolute}\r\nX: ${"a".repeat(40_000)}`, "431"],
  ["too many fields", request(absolute, ["Host: api.test", ...Array(300).fill("A: b")]), "400"],
  ["no credentials", `${absolute}\r\nHost: api.test\r\n\r\n`, "407"],
  ["other credentials", `${absolute}\r\nHost: api.test\r\nProxy-Authorization: Basic eDp5\r\n\r\n`, "407"],
  ["two credentials", request(absolute, ["Host: api.test", `Proxy-Authorization: ${goodCredentials}`]), "407"],
])("%s: refused, nothing passed on, connection closed", async (_, text, status) => {
  const server = await peer();
  const proxy = await fixture(allow("api.test", `127.0.0.1:${server.port}`));
  proxy.names.set("api.test", [["127.0.0.1"]]);
  const agent = await client(proxy);
  agent.send(text);
  expect(await agent.take(/\r\n\r\n/)).toStartWith(`HTTP/1.1 ${status} `);
  if (status !== "403") await agent.all();
  expect(server.connections()).toBe(0);
  expect(proxy.failures).toEqual([]);
});

test("broken chunks end the exchange on both sides", async () => {
  const server = await openPeer(() => {});
  disposers.push(server.stop);
  const proxy = await apiFixture(server.port);
  for (const body of ["zz\r\n", "-1\r\nx", "1\r\nabc\r\n", "1\nx\r\n", "fffffffffffffff\r\n"]) {
    const agent = await client(proxy);
    const fields = [`Host: api.test:${server.port}`, "Transfer-Encoding: chunked"];
    agent.send(request(`POST http://api.test:${server.port}/ HTTP/1.1`, fields, body));
    expect(await agent.all()).toStartWith("HTTP/1.1 502 ");
  }
});

test.each([
  ["length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ["not HTTP", "SSH-2.0-x\r\n\r\n"],
  ["an unasked protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
  ["a head without end", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(200_000)}\r\n\r\n`],
])("a server that answers with %s is a bad gateway", async (_, answer) => {
  const server = await peer(answer);
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  agent.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]));
  expect(await agent.take(/}$/)).toStartWith("HTTP/1.1 502 ");
});

test("no server at the port, or no such name", async () => {
  const server = await peer();
  server.stop();
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  agent.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]));
  expect(await agent.take(/}$/)).toContain("egress_unreachable");
  proxy.names.clear();
  agent.send(request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]));
  expect(await agent.take(/}$/)).toContain("egress_unresolved");
});

test("a connection more than an instance may have is told so", async () => {
  const server = await peer();
  const proxy = await fixture(allow(`127.0.0.1:${server.port}`), undefined, { seats: 1 });
  const line = `GET http://127.0.0.1:${server.port}/ HTTP/1.1`;
  const first = await client(proxy);
  first.send(request(line, [`Host: 127.0.0.1:${server.port}`]));
  expect(await first.take(/hi$/)).toContain("200 OK");
  const second = await client(proxy);
  second.send(request(line, [`Host: 127.0.0.1:${server.port}`]));
  expect(await second.take(/}/)).toContain("too_many_connections");
});

test("one that asks and asks without reading the answers is not answered without end", async () => {
  const proxy = await fixture(allow("api.test"));
  const deaf = await client(proxy);
  deaf.socket.pause();
  const asked = 60_000;
  deaf.send(request("GET http://other.test/ HTTP/1.1", ["Host: other.test"]).repeat(asked));
  let before = -1;
  await until(
    () => {
      const isStill = before > 0 && proxy.refusals.length === before;
      before = proxy.refusals.length;
      return isStill;
    },
    { everyMs: 300, timeoutMs: 20_000 },
  );
  expect(proxy.refusals.length).toBeLessThan(asked);
});

test("a client that never comes to the point is cut, however slowly it goes on", async () => {
  const proxy = await fixture(allow("api.test"), undefined, { headMs: 60 });
  const silent = await client(proxy);
  const slow = await client(proxy);
  slow.send("GET http://api.test/ HTTP/1.1\r\n");
  const drip = setInterval(() => slow.send("X: y\r\n"), 10);
  expect(await slow.all()).toBe("");
  clearInterval(drip);
  expect(await silent.all()).toBe("");
});

test("unauthenticated connections displace their own oldest, never authenticated ones", async () => {
  const server = await peer();
  const proxy = await apiFixture(server.port);
  const agent = await client(proxy);
  const line = request(`GET http://api.test:${server.port}/ HTTP/1.1`, [`Host: api.test:${server.port}`]);
  agent.send(line);
  await agent.take(/hi$/);
  const strangers: RawClient[] = [];
  // In parts: the kernel queues only so many at once.
  while (strangers.length < 530) {
    strangers.push(...(await Promise.all(Array.from({ length: 53 }, () => client(proxy)))));
  }
  await until(() => strangers.filter(({ closed }) => closed).length >= 18);
  const late = await client(proxy);
  late.send(line);
  expect(await late.take(/hi$/)).toContain("200 OK");
  agent.send(line);
  expect(await agent.take(/hi$/)).toContain("200 OK");
});

test("a client that is gone before it is known leaves no seat taken", async () => {
  const server = await peer();
  const proxy = await fixture(allow(`127.0.0.1:${server.port}`), undefined, { admitMs: 30 });
  const line = request(`GET http://127.0.0.1:${server.port}/ HTTP/1.1`, [`Host: 127.0.0.1:${server.port}`]);
  const hasty = await Promise.all(Array.from({ length: 5 }, () => client(proxy)));
  for (const one of hasty) one.socket.write(line, () => void one.socket.resetAndDestroy());
  // One that only ends its half still gets its answer.
  const brief = await client(proxy);
  brief.socket.end(line);
  expect(await brief.all()).toEndWith("hi");
  await until(() => proxy.taken() === 0);
  expect(server.connections()).toBe(1);
});
