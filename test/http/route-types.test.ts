/** What a handler may return follows from its route's responses; each line marked as an error must not compile. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Responses } from "../../src/http/answer.ts";
import { eventStream, JsonText, media, reply } from "../../src/http/answer.ts";
import { listOf, listSchema, listText, type Page } from "../../src/http/paging.ts";
import { defineRoute } from "../../src/http/route.ts";

const at = <R extends Responses>(responses: R) =>
  ({ method: "POST", path: "/v1/things", summary: "A thing", responses }) as const;
const Thing = Type.Object({
  id: Type.String(),
  state: Type.Union([Type.Literal("new"), Type.Literal("old")]),
  tags: Type.Array(Type.String()),
  note: Type.Optional(Type.String()),
});
const thing = { id: "1", state: "new", tags: [] } as const;
const page: Page = { limit: 10, offset: 0, after: null };

test("a body fits the schema of its status", () => {
  const routes = [
    defineRoute({ ...at({ 200: Thing }), handler: () => ({ id: "1", state: "new", tags: ["a"], note: "n" }) }),
    defineRoute({ ...at({ 200: Thing }), handler: async () => thing }),
    defineRoute({ ...at({ 200: Thing }), handler: () => new JsonText<typeof Thing.static>("{}") }),
    // @ts-expect-error a member is missing
    defineRoute({ ...at({ 200: Thing }), handler: () => ({ id: "1", tags: [] }) }),
    // @ts-expect-error a member has another type
    defineRoute({ ...at({ 200: Thing }), handler: async () => ({ ...thing, id: 1 }) }),
    // @ts-expect-error a member has a value that is not declared
    defineRoute({ ...at({ 200: Thing }), handler: () => ({ ...thing, state: "broken" }) }),
    // @ts-expect-error the text holds something else
    defineRoute({ ...at({ 200: Thing }), handler: () => new JsonText<{ id: string }>("{}") }),
    // @ts-expect-error nothing is returned
    defineRoute({ ...at({ 200: Thing }), handler: () => {} }),
    // @ts-expect-error a route declares its responses
    defineRoute({ method: "GET", path: "/v1/things", summary: "A thing", handler: () => thing }),
  ];
  expect(routes.length).toBe(9);
});

test("a status other than 200 is named and declared", () => {
  const two = at({ 200: Thing, 202: Type.Object({ status: Type.Literal("accepted") }) });
  const routes = [
    defineRoute({ ...two, handler: () => reply(202, { status: "accepted" }) }),
    defineRoute({ ...two, handler: () => reply(200, thing, { Location: "/v1/things/1" }) }),
    // @ts-expect-error the body of another status
    defineRoute({ ...two, handler: () => reply(202, thing) }),
    // @ts-expect-error a status that is not declared
    defineRoute({ ...two, handler: () => reply(201, { status: "accepted" }) }),
    // @ts-expect-error a plain value is a 200, and the route has none
    defineRoute({ ...at({ 201: Thing }), handler: () => thing }),
  ];
  expect(routes.length).toBe(5);
});

test("a Response is returned only where media types are declared", () => {
  const routes = [
    defineRoute({ ...at({ 200: media("text/plain") }), handler: () => new Response("text") }),
    defineRoute({ ...at({ 200: Type.Union([Thing, media("text/yaml")]) }), handler: () => thing }),
    defineRoute({ ...at({ 200: eventStream(Type.Unknown()) }), sse: true, handler: () => new Response("") }),
    // @ts-expect-error the route declares JSON only
    defineRoute({ ...at({ 200: Thing }), handler: () => new Response("{}") }),
    // @ts-expect-error the route declares text only
    defineRoute({ ...at({ 200: media("text/plain") }), handler: () => thing }),
  ];
  expect(routes.length).toBe(5);
});

test("a list has the items its schema declares, under its alias", () => {
  const list = at({ 200: listSchema("things", Thing) });
  const keyOf = () => ["1"];
  const routes = [
    defineRoute({ ...list, handler: () => listOf("things", [thing], page, keyOf) }),
    defineRoute({ ...list, handler: () => listText<"things", typeof Thing.static>("things", ["{}"], null) }),
    // @ts-expect-error another alias
    defineRoute({ ...list, handler: () => listOf("people", [thing], page, keyOf) }),
    // @ts-expect-error items of another shape
    defineRoute({ ...list, handler: () => listOf("things", [{ id: "1" }], page, keyOf) }),
  ];
  expect(routes.length).toBe(4);
});
