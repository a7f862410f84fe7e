/** The gateway's unix socket under clients that want all of it. */
import { afterEach, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { connectionGates } from "../../../src/features/gateway/connection-gate.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";

const open: (Server | Socket)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) "listening" in one ? one.close() : one.destroy();
});

const tokens = {
  verify: async (token: string) => {
    if (!token.startsWith("good-")) throw new Error("invalid");
    return { executionId: "e", tenant: "t", instanceId: token };
  },
};

async function stand(limits: { perInstance?: number; unauthenticated?: number }) {
  const held = new Set<Socket>();
  const gateway = createServer({ allowHalfOpen: true }, (socket) => {
    held.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => held.delete(socket));
    socket.on("end", () => socket.end());
    socket.on("data", (piece) => {
      if (piece.includes("/big")) socket.end("x".repeat(3_000_000));
      else if (piece.includes("\r\n\r\n")) socket.write("answered");
    });
  });
  open.push(gateway);
  await new Promise<void>((done) => gateway.listen(0, "127.0.0.1", done));
  const path = join(scratch("gate"), "node.sock");
  const to = { host: "127.0.0.1", port: (gateway.address() as AddressInfo).port };
  const gate = connectionGates({ to, tokens, ...limits })();
  open.push(gate);
  await new Promise<void>((done) => gate.listen({ path }, done));
  const client = (token: string | null, target = "/v1/dispatch-gateway", whole = true) => {
    const socket = connect(path);
    open.push(socket);
    const seen = { text: "", closed: false, socket };
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      seen.text += piece.toString();
    });
    socket.on("close", () => {
      seen.closed = true;
    });
    const authorization = token === null ? "" : `Authorization: Bearer ${token}\r\n`;
    socket.write(`POST ${target} HTTP/1.1\r\nHost: x\r\n${authorization}${whole ? "\r\n" : ""}`);
    return seen;
  };
  return { client, held };
}

test("an instance has a bounded number of connections and gets one back on close", async () => {
  const { client } = await stand({ perInstance: 3 });
  const greedy = Array.from({ length: 5 }, () => client("good-1"));
  await until(() => greedy.every(({ text, closed }) => text === "answered" || closed));
  expect(greedy.filter(({ closed }) => closed)).toHaveLength(2);
  const inPath = client(null, "/x/good-1/v1/dispatch-gateway");
  const other = client("good-2");
  await until(() => other.text === "answered" && inPath.closed);
  greedy.find(({ closed }) => !closed)?.socket.destroy();
  await until(async () => {
    const again = client("good-1");
    await until(() => again.text !== "" || again.closed);
    return again.text === "answered";
  });
});

test("callers without a good token displace each other and stay within their number", async () => {
  const { client, held } = await stand({ unauthenticated: 4 });
  const known = client("good-1");
  await until(() => known.text === "answered");
  const idle = Array.from({ length: 40 }, (_, at) => client(at % 2 === 0 ? "bad" : null, "/", at % 3 === 0));
  await until(() => idle.filter(({ closed }) => closed).length >= 36);
  expect(held.size).toBeLessThanOrEqual(5);
  const late = client("good-2");
  await until(() => late.text === "answered");
  expect(known.closed).toBe(false);
});

test("a long answer arrives whole; what the client leaves, the gateway is rid of", async () => {
  const { client, held } = await stand({});
  const reader = client("good-1", "/big");
  await until(() => reader.text.length === 3_000_000);
  const leaver = client("good-1");
  await until(() => leaver.text === "answered");
  reader.socket.destroy();
  leaver.socket.destroy();
  await until(() => held.size === 0);
});
