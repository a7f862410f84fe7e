import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { eventStream } from "../../src/http/answer.ts";
import { documentRoutes } from "../../src/http/openapi/document-routes.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import {
  definePublicRoute,
  defineRoute,
  jsonBody,
  type Route,
  rawBody,
  Uuid,
  uuidParam,
} from "../../src/http/route.ts";
import { type OpenApp, openApp } from "./open-app.ts";

const Started = Type.Object({ execution_id: Uuid }, { description: "Started" });
const routes: Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/agents/:id/execute",
    summary: "Starts <it>",
    scope: { anyOf: ["agent:execute", "agent:deploy"] },
    params: Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") }),
    query: Type.Object({ version: Type.Optional(Type.String({ description: "Which one" })) }),
    body: jsonBody(Type.Object({ input: Type.Unknown() })),
    responses: { 200: Started },
    refusals: ["agent_not_found"],
    handler: () => ({ execution_id: "0190f3c4-0000-7000-8000-000000000001" }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/executions/:id/stream",
    summary: "Events",
    scope: "execution:stream",
    sse: true,
    params: Type.Object({ id: uuidParam() }),
    responses: { 200: eventStream(Type.Unknown()) },
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
  const schemas = { Started, Unused: Type.Object({ a: Type.String() }) };
  const info = { version: "1.2.3", publicUrl: "http://localhost:8080", schemas };
  app = openApp({ routes: [...routes, ...documentRoutes(routes, info)] });
});
afterAll(() => app.stop());

test("the document tells what the routes declare", async () => {
  const response = await fetch(`${app.url}/openapi.json`);
  const document = (await response.json()) as {
    openapi: string;
    paths: Record<string, Record<string, unknown>>;
    components: { schemas: unknown };
  };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toEqual([
    "/v1/agents/{id}/execute",
    "/v1/executions/{id}/stream",
    "/v1/executions/{id}/files/{path}",
    "/v1/agents",
  ]);
  const described = document.paths["/v1/agents/{id}/execute"]?.post ?? {};
  const { responses, ...execute } = described as Record<string, unknown>;
  expect(execute).toEqual({
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
      { $ref: "#/components/parameters/ActingTenant" },
      { $ref: "#/components/parameters/ServedTenant" },
      { $ref: "#/components/parameters/Team" },
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { type: "object", required: ["input"], properties: { input: {} } },
          example: { input: {} },
        },
      },
    },
  });
  const refused = (status: string) => (responses as Record<string, unknown>)[status];
  expect(responses).toMatchObject({
    "200": {
      description: "Started",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Started" } } },
    },
    default: { $ref: "#/components/responses/Refusal" },
  });
  // What the steps before the handler answer, and what the route says itself.
  expect(refused("404")).toMatchObject({ description: "`tenant_not_found`, `agent_not_found`" });
  // And what any request may be refused for with that status.
  expect(refused("403")).toMatchObject({
    description: expect.stringMatching(/`insufficient_scope`.*`origin_forbidden`/),
  });
  const before = /`invalid_agent_id`.*`malformed_request`, `invalid_host`/;
  expect(refused("400")).toMatchObject({ description: expect.stringMatching(before) });
  // Some routes answer that code as 422.
  expect(refused("422")).toMatchObject({
    description: expect.stringMatching(/`agent_not_found`, `validation_failed`$/),
  });
  expect(document.components.schemas).toEqual({
    Error: expect.any(Object),
    Started: {
      type: "object",
      description: "Started",
      required: ["execution_id"],
      properties: { execution_id: { type: "string", format: "uuid" } },
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

test("/ leads a browser to the documentation", async () => {
  const page = await fetch(`${app.url}/`, { headers: { Accept: "text/html" } });
  expect([page.status, page.url, page.redirected]).toEqual([200, `${app.url}/docs`, true]);
  const answer = await fetch(`${app.url}/`, { redirect: "manual" });
  expect([answer.status, await answer.json()]).toEqual([302, { docs: "docs", openapi: "openapi.json" }]);
});

test("two schemas under one name, or one schema under two, are refused", () => {
  const shape = Type.Object({ a: Type.String() });
  const document = (schemas: Record<string, unknown>) => openApiDocument([], { version: "1", publicUrl: "/", schemas });
  expect(() => document({ One: shape, Other: Type.Object({ a: Type.String() }) })).toThrow(
    "One and Other are the same",
  );
  const withDefault = Type.Object({ a: Type.String({ default: "x" }) });
  expect(() => document({ Made: withDefault, MadeInput: shape })).toThrow("two schemas are called MadeInput");
});
