/** The check of answers that every test runs under finds what does not fit. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Problem, type ProblemCode } from "../../actors/kernel/problem.ts";
import { media, reply } from "../../src/http/answer.ts";
import { definePublicRoute } from "../../src/http/route.ts";
import { requireFittingAnswers } from "../harness/node/answers.ts";
import { type OpenApp, openApp } from "./open-app.ts";

/** Past the compiler, as a stored document may bring them. */
const bodies: Readonly<Record<string, unknown>> = {
  right: { id: "1", items: [{ at: "2031-05-02T06:00:09.120Z" }] },
  "a member too many": { id: "1", items: [], more: 1 },
  "a member too many further down": { id: "1", items: [{ at: "2031-05-02T06:00:09.120Z", by: "x" }] },
  "a member missing": { id: "1" },
  "no time": { id: "1", items: [{ at: "yesterday" }] },
};
const Thing = Type.Object({
  id: Type.String(),
  items: Type.Array(Type.Object({ at: Type.String({ format: "date-time" }) })),
});

let app: OpenApp;
beforeAll(() => {
  const declared = { method: "GET", summary: "An answer", params: Type.Object({ what: Type.String() }) } as const;
  app = openApp({
    routes: [
      definePublicRoute({
        ...declared,
        path: "/body/:what",
        responses: { 200: Thing },
        handler: ({ params }) => bodies[params.what] as typeof Thing.static,
      }),
      definePublicRoute({
        ...declared,
        path: "/status/:what",
        responses: { 200: Type.Unknown(), 201: Type.Unknown() },
        handler: ({ params }) => reply(Number(params.what) as 200, {}),
      }),
      definePublicRoute({
        ...declared,
        path: "/media/:what",
        responses: { 200: media("text/plain") },
        handler: ({ params }) => new Response("x", { headers: { "Content-Type": `text/${params.what}` } }),
      }),
      definePublicRoute({
        ...declared,
        path: "/problem/:what",
        responses: { 200: Thing },
        refusals: ["agent_not_found", "validation_failed"],
        handler: ({ params }) => {
          throw new Problem(params.what as ProblemCode, "refused", {}, {}, 404);
        },
      }),
    ],
  });
});
afterAll(() => app.stop());

test.each([
  ["/body/right", null],
  ["/body/a member too many", "200: /more: Unexpected property, not 1"],
  ["/body/a member too many further down", '/items/0/by: Unexpected property, not "x"'],
  ["/body/a member missing", "/items: Expected required property"],
  ["/body/no time", "/items/0/at: Expected string to match 'date-time' format"],
  ["/status/201", null],
  ["/status/202", "202: the status is not declared"],
  ["/media/plain", null],
  ["/media/html", "the media type text/html is not declared"],
  ["/problem/agent_not_found", null],
  ["/problem/validation_failed", "validation_failed is a 422"],
  ["/problem/volume_not_found", "the code volume_not_found is not among its refusals"],
  ["/problem/made_up", "the code made_up is not in the table"],
])("%s: %j", async (path, fault) => {
  const response = await fetch(app.url + path);
  if (fault === null) return expect(response.status).not.toBe(500);
  expect(response.status).toBe(500);
  expect(((await response.json()) as { error: string }).error).toContain(fault);
  expect(requireFittingAnswers).toThrow(fault);
});
