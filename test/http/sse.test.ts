/** Event streams apart from what they carry: slow readers, vanished ones, a node that leaves. */
import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type Logged, streamLog } from "../../src/http/streams/log-stream.ts";
import { type EventStream, EventStreams } from "../../src/http/streams/sse.ts";
import type { LogEntry } from "../../src/runtime/port.ts";
import { identityOf } from "../harness/callers.ts";
import { until } from "../harness/until.ts";

const chunk = "x".repeat(64 * 1024);
let server: ReturnType<typeof Bun.serve> | null = null;
afterEach(() => server?.stop(true));

const identity = identityOf("acme");

/** A listener with one stream per request; the source keeps what it was given. */
function open(
  source: (stream: EventStream) => Promise<void>,
  { keepAliveMs, idleTimeout = 10 }: { keepAliveMs?: number; idleTimeout?: number } = {},
) {
  const streams = new EventStreams(keepAliveMs === undefined ? {} : { keepAliveMs });
  const leaving = new AbortController();
  server = Bun.serve({
    port: 0,
    development: false,
    hostname: "127.0.0.1",
    idleTimeout,
    fetch: (request, listener) =>
      streams.open(
        { request, server: listener, stopping: leaving.signal, identity },
        new URL(request.url).pathname,
        source,
      ),
  });
  return { streams, leaving, port: server.port ?? 0 };
}

function client(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      resolve(socket);
    });
    socket.on("error", () => {});
  });
}

test("a reader that stops is cut off once more than 1 MiB waits", async () => {
  let sent = 0;
  let cut = false;
  const { streams, port } = open(async (stream) => {
    stream.onClose = () => {
      cut = true;
    };
    for (let id = 1; id <= 500 && !stream.closed; id++) {
      stream.send(id, chunk);
      sent += chunk.length;
      await Bun.sleep(0);
    }
  });
  const socket = await client(port);
  socket.pause();
  let closed = false;
  socket.on("close", () => {
    closed = true;
  });
  await until(() => cut, { what: "the cut" });
  // What the kernel holds for both sides came first.
  expect(sent).toBeGreaterThan(1024 * 1024);
  expect(sent).toBeLessThan(20 * 1024 * 1024);
  expect(streams.size).toBe(0);
  socket.resume();
  await until(() => closed, { what: "the connection to close" });
});

test("between two large events of a log everything else gets its time", async () => {
  let turnsOfTheLoop = 0;
  const beating = setInterval(() => {
    turnsOfTheLoop++;
  }, 0);
  const written: number[] = [];
  const entries: LogEntry[] = [1, 2, 3, 4, 5].map((seq) => ({ seq, at: 0, entry: { size: chunk.length } }));
  const text = () => {
    written.push(turnsOfTheLoop);
    const until = performance.now() + 5;
    while (performance.now() < until);
    return `${chunk}x`;
  };
  const actor: Logged = {
    log: async () => entries as never,
    async *logPages() {
      yield entries as never;
    },
    tail: () => () => {},
  };
  const { port } = open((stream) =>
    streamLog(actor, { after: 0, follow: false }, { text, isLast: ({ seq }) => seq === 5 }, stream),
  );
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  clearInterval(beating);
  // The first turn is granted at once, because no other stream waits.
  expect(new Set(written).size).toBeGreaterThanOrEqual(4);
});

test("a reader that keeps up gets everything", async () => {
  const { port } = open(async (stream) => {
    for (let id = 1; id <= 300; id++) {
      stream.send(id, chunk);
      await stream.drained();
    }
    stream.end();
  });
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect([...text.matchAll(/^id: /gm)].length).toBe(300);
});

test("one event larger than what may wait reaches a slow reader", async () => {
  const large = "y".repeat(12 * 1024 * 1024);
  const { port } = open(async (stream) => {
    for (const id of [1, 2]) {
      stream.send(id, large);
      await stream.drained();
    }
    stream.end();
  });
  const socket = await client(port);
  let received = 0;
  socket.on("data", (data) => {
    received += data.length;
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  await until(() => received > 2 * large.length, { timeoutMs: 30_000, what: "both events" });
  socket.destroy();
});

test("a reader that vanishes is noticed, and its source told", async () => {
  let told = 0;
  const { streams, port } = open(async (stream) => {
    stream.onClose = () => {
      told += 1;
    };
    stream.comment("open");
  });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => client(port)));
  await until(() => streams.size === 20, { what: "all streams to open" });
  for (const socket of sockets) socket.destroy();
  await until(() => streams.size === 0 && told === 20, { what: "all streams to be released" });
});

test("streams end when the node leaves", async () => {
  const { leaving, port } = open(async (stream) => stream.send(1, "{}"));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  leaving.abort();
  expect(await response.text()).toBe("retry: 3000\nid: 1\ndata: {}\n\n");
});

test("a source that fails cuts the connection instead of ending the stream", async () => {
  const begun = Promise.withResolvers<void>();
  const { streams, port } = open(async (stream) => {
    stream.send(1, "{}");
    await begun.promise;
    throw new Error("the store is away");
  });
  const response = await fetch(`http://127.0.0.1:${port}/`);
  begun.resolve();
  expect(await response.text().catch(() => "broken")).toBe("broken");
  expect(streams.size).toBe(0);
});

test("two hundred per tenant; a reader that is gone makes room", async () => {
  const { streams, port } = open(async (stream) => stream.comment("open"));
  const sockets: Socket[] = [];
  for (let count = 0; count < 200; count++) sockets.push(await client(port));
  await until(() => streams.size === 200, { what: "two hundred streams" });
  const call = { request: new Request("http://x/"), server: null, stopping: new AbortController().signal, identity };
  await expect(streams.open(call, "/", async () => {})).rejects.toThrow("At most 200");
  expect(await streams.open(call, "/other", async () => {})).toBeInstanceOf(Response);
  sockets.pop()?.destroy();
  await until(() => streams.size === 199, { what: "room" });
  expect(await streams.open(call, "/", async () => {})).toBeInstanceOf(Response);
  for (const socket of sockets) socket.destroy();
});

test("a silent stream outlives the listener's idle timeout, is kept alive, and goes on", async () => {
  const goOn = Promise.withResolvers<void>();
  const source = async (stream: EventStream) => {
    stream.send(1, "{}");
    await goOn.promise;
    stream.send(2, "{}");
    stream.end();
  };
  const { port } = open(source, { keepAliveMs: 2_500, idleTimeout: 1 });
  const socket = await client(port);
  let text = "";
  let closed = false;
  socket.on("data", (data) => {
    text += data.toString();
  });
  socket.on("close", () => {
    closed = true;
  });
  const comments = () => text.split(": keep-alive").length - 1;
  await until(() => closed || comments() >= 3, { timeoutMs: 25_000, what: "three comments" });
  goOn.resolve();
  await until(() => closed || text.includes("id: 2"), { what: "the second event" });
  expect(text).toContain("id: 2");
  socket.destroy();
});
