/** The internal listener: answers that take long, connections that stay idle. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { listenInternally } from "../../../src/features/gateway/listener.ts";
import { createApp } from "../../../src/http/app.ts";
import { createLogger } from "../../../src/http/operations/log.ts";
import { definePublicRoute } from "../../../src/http/route.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";

const nobody = { verify: () => Promise.reject(new Error("no such token")) };

test("an answer outlasts the idle timeout on both ways; then idle connections close", async () => {
  let arrived = 0;
  let answer = () => {};
  const told = new Promise<void>((resolve) => (answer = resolve));
  const slow = definePublicRoute({
    method: "GET",
    path: "/slow",
    summary: "",
    responses: { 200: Type.Unknown() },
    handler: async () => {
      arrived += 1;
      await told;
      return { slow: true };
    },
  });
  const app = createApp({
    routes: [slow],
    authenticator: null,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });
  const socket = join(scratch("listener"), "node.sock");
  const listener = listenInternally(app, { hostname: "127.0.0.1", port: 0, socket, tokens: nobody, idleSeconds: 1 });
  await listener.ready;
  const answers = [connect(listener.port, "127.0.0.1"), connect(socket)].map((connection) => {
    const seen = { text: "", closed: false };
    connection.on("data", (data) => {
      seen.text += data.toString();
    });
    connection.on("close", () => {
      seen.closed = true;
    });
    connection.on("error", () => {});
    connection.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    return seen;
  });
  await until(() => arrived === 2, { what: "both requests to arrive" });
  // Answered at once, idle for less long than the two requests wait, and cut all the same.
  const idle = connect(listener.port, "127.0.0.1");
  idle.write("GET /unknown HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.resume();
  await new Promise((resolve) => idle.on("error", () => {}).on("close", resolve));
  answer();
  await until(() => answers.every(({ text, closed }) => text.includes('{"slow":true}') || closed), {
    timeoutMs: 30_000,
    what: "both answers",
  });
  expect(answers.map(({ text }) => text.split("\r\n")[0])).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  await until(() => answers[0]?.closed ?? false, { timeoutMs: 30_000, what: "the idle TCP connection to be let go" });
  await listener.stop(1_000);
}, 60_000);

test("another program cannot listen at the same port beside it", async () => {
  const app = createApp({
    routes: [],
    authenticator: null,
    logger: createLogger("silent"),
    metrics: null,
    corsOrigins: [],
  });
  const listener = listenInternally(app, { hostname: "127.0.0.1", port: 0, socket: null, tokens: nobody });
  // Only a socket that shares the port as well would be let in beside one that shares it.
  const beside = () =>
    Bun.serve({ hostname: "127.0.0.1", port: listener.port, reusePort: true, fetch: () => new Response() });
  expect(beside).toThrow("in use");
  await listener.stop(0);
});
