import { afterEach, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { definePublicRoute, media, type Route } from "../../src/http/route.ts";
import { until } from "../harness/until.ts";
import { type OpenApp, openApp } from "./open-app.ts";
import { rawRequest } from "./raw.ts";

let app: OpenApp | null = null;
afterEach(() => app?.stop());

test("stopping lets the answers under way out and ends streams", async () => {
  let finish: (() => void) | null = null;
  let streaming = false;
  const routes: Route[] = [
    definePublicRoute({
      method: "GET",
      path: "/slow",
      summary: "Slow",
      responses: { 200: Type.Unknown() },
      handler: async () => {
        await new Promise<void>((resolve) => (finish = resolve));
        return { done: true };
      },
    }),
    definePublicRoute({
      method: "GET",
      path: "/stream",
      summary: "Endless",
      responses: { 200: media("*/*") },
      handler: ({ stopping }) =>
        new Response(
          new ReadableStream({
            start(controller) {
              streaming = true;
              controller.enqueue("begun\n");
              stopping.addEventListener("abort", () => controller.close());
            },
          }),
        ),
    }),
  ];
  app = openApp({ routes });
  const slow = fetch(`${app.url}/slow`);
  const stream = await fetch(`${app.url}/stream`);
  await until(() => streaming && finish);
  const stopped = app.stop(10_000);
  expect(await stream.text()).toBe("begun\n");
  (finish as (() => void) | null)?.();
  expect(await (await slow).json()).toEqual({ done: true });
  await stopped;
  expect(await fetch(`${app.url}/slow`).catch(() => "refused")).toBe("refused");
});

test("a connection with nothing on it is cut; a patient route's is not", async () => {
  const wait = (path: string, patience: object) =>
    definePublicRoute({
      method: "GET",
      path,
      summary: "Waits",
      ...patience,
      responses: { 200: Type.Unknown() },
      handler: async () => {
        await Bun.sleep(7000);
        return { done: true };
      },
    });
  app = openApp({ routes: [wait("/patient", { timeoutSeconds: 20 })], idleTimeoutSeconds: 1 });
  const get = "GET /patient HTTP/1.1\r\nHost: x\r\n\r\n";
  const [half, patient] = await Promise.all([
    rawRequest(app.port, ["GET /patient HTTP/1.1\r\n"]),
    rawRequest(app.port, [get]),
  ]);
  expect(half).not.toContain("200 OK");
  expect(patient).toContain('{"done":true}');
}, 20_000);
