import { afterEach, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { media } from "../../src/http/answer.ts";
import { definePublicRoute, type Route } from "../../src/http/route.ts";
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
  let finish = () => {};
  const cut = new Promise<void>((resolve) => (finish = resolve));
  let waiting = false;
  const patientRoute = definePublicRoute({
    method: "GET",
    path: "/patient",
    summary: "Waits",
    timeoutSeconds: 60,
    responses: { 200: Type.Unknown() },
    handler: async () => {
      waiting = true;
      await cut;
      return { done: true };
    },
  });
  app = openApp({ routes: [patientRoute], idleTimeoutSeconds: 1 });
  const patient = rawRequest(app.port, ["GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"]);
  await until(() => waiting, { what: "the patient request to arrive" });
  // The patient one has been silent for longer than this one when this is cut.
  const half = await rawRequest(app.port, ["GET /patient HTTP/1.1\r\n"]);
  expect(half).not.toContain("200 OK");
  finish();
  expect(await patient).toContain('{"done":true}');
}, 30_000);
