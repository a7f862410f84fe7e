import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { documentRoutes } from "../../src/http/openapi/document-routes.ts";
import {
  definePublicRoute,
  defineRoute,
  eventStream,
  jsonBody,
  type Route,
  rawBody,
  Uuid,
  uuidParam,
} from "../../src/http/route.ts";
import { type OpenApp, openApp } from "./open-app.ts";

const routes: Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/agents/:id/execute",
    summary: "Starts <it>",
    scope: { anyOf: ["agent:execute", "agent:deploy"] },
    params: Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") }),
    query: Type.Object({ version: Type.Optional(Type.String({ description: "Which one" })) }),
    body: jsonBody(Type.Object({ input: Type.Unknown() })),
    responses: { 200: Type.Object({ execution_id: Uuid }, { description: "Started" }) },
    handler: () => ({ execution_id: "0190f3c4-0000-7000-8000-000000000001" }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/executions/:id/stream",
    summary: "Events",
    scope: "execution:stream",
    sse: true,
    params: Type.Object({ id: uuidParam() }),
    responses: { 200: eventStream },
    handler: () => new Response(""),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/executions/:id/files/*",
    summary: "A file",
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  definePublicRoute({
    method: "POST",
    path: "/v1/agents",
    summary: "Raw",
    body: rawBody({ accepts: ["application/yaml", "application/json"] }),
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  definePublicRoute({
    method: "GET",
    path: "/secret-door",
    summary: "Hidden",
    hidden: true,
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
];

let app: OpenApp;
beforeAll(() => {
  const info = { version: "1.2.3", publicUrl: "http://localhost:8080" };
  app = openApp({ routes: [...routes, ...documentRoutes(routes, info)] });
});
afterAll(() => app.stop());

test("the document tells what the routes declare", async () => {
  const response = await fetch(`${app.url}/openapi.json`);
  const document = (await response.json()) as { openapi: string; paths: Record<string, Record<string, unknown>> };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toEqual([
    "/v1/agents/{id}/execute",
    "/v1/executions/{id}/stream",
    "/v1/executions/{id}/files/{path}",
    "/v1/agents",
  ]);
  expect(document.paths["/v1/agents/{id}/execute"]?.post).toEqual({
    operationId: "postAgentsByIdExecute",
    tags: ["agents"],
    summary: "Starts <it>",
    description: "Scope: agent:execute or agent:deploy",
    security: [{ bearer: ["agent:execute", "agent:deploy"] }],
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
      {
        name: "version",
        in: "query",
        required: false,
        description: "Which one",
        schema: { type: "string", description: "Which one" },
      },
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: { type: "object", required: ["input"], properties: { input: {} } } } },
    },
    responses: {
      "200": {
        description: "Started",
        content: {
          "application/json": {
            schema: {
              type: "object",
              description: "Started",
              required: ["execution_id"],
              properties: { execution_id: { type: "string", format: "uuid" } },
            },
          },
        },
      },
      default: {
        description: "Any refusal",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  });
  expect(document.paths["/v1/executions/{id}/stream"]?.get).toMatchObject({
    security: [{ bearer: ["execution:stream"] }, { queryToken: ["execution:stream"] }],
    responses: { "200": { content: { "text/event-stream": {} } } },
  });
  expect(document.paths["/v1/agents"]?.post).toMatchObject({
    security: [],
    requestBody: { content: { "application/yaml": {} } },
  });
});

test("the page needs nothing from elsewhere and escapes what it shows", async () => {
  const response = await fetch(`${app.url}/docs`);
  const page = await response.text();
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page).toContain("/v1/agents/{id}/execute");
  expect(page).toContain("Starts &lt;it&gt;");
  expect(page).not.toContain("<it>");
  expect(page).not.toMatch(/<script|<link|https?:\/\/(?!localhost)/);
});
