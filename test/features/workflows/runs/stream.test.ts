/** The stream of a run's log: late readers, resuming, the end, and that it says what `/logs` says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { definitionOf, human, ways } from "../../../actors/workflow/fixture.ts";
import { Followed } from "../../../harness/events.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let token: string;
beforeAll(async () => {
  fixture = await openFixture();
  token = fixture.caller("north");
  const states = { ONE: human(ways(["approved", "TWO"])), TWO: human(ways(["approved", "ONE"])) };
  fixture.register("north", definitionOf(states, { name: "turns" }));
});
afterAll(() => fixture.dispose());

const path = (id: string, action: string) => `/v1/workflows/executions/${id}/${action}`;
const follow = (id: string, action = "logs/stream", headers = {}) =>
  new Followed(`${fixture.url}${path(id, action)}`, { authorization: `Bearer ${token}`, ...headers });
const decide = async (id: string) => {
  await fixture.waiting(token, id);
  const answer = await fixture.call(token, "POST", path(id, "signal"), { response: "yes" });
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
};
const logged = async (id: string) => (await fixture.call(token, "GET", path(id, "logs"))).body.events;
const dataOf = ({ frames }: Followed) => frames.map(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? ""));

test("opened late it replays from 1, goes on live, and closes after the terminal event", async () => {
  const id = await fixture.start(token, "turns");
  await decide(id);
  const late = follow(id);
  await until(() => late.frames.length >= 6, { what: "the backlog" });
  await decide(id);
  await fixture.call(token, "POST", path(id, "cancel"), {});
  await late.done;
  expect(late.ended).toBe(true);
  expect(late.text).toStartWith("retry: 3000\nid: 1\ndata: ");
  expect(late.text).not.toContain("event:");
  expect(late.ids).toEqual(late.ids.map((_, index) => index + 1));
  expect(dataOf(late)).toEqual(await logged(id));
  expect(dataOf(late).at(-1).type).toBe("WorkflowExecutionCancelled");
});

test("many readers, joining at any time, see the same", async () => {
  const id = await fixture.start(token, "turns");
  const readers = [follow(id)];
  for (let step = 0; step < 4; step++) {
    await decide(id);
    readers.push(follow(id, step % 2 === 0 ? "stream" : "events"));
  }
  await fixture.call(token, "POST", path(id, "cancel"), {});
  await Promise.all(readers.map(({ done }) => done));
  const all = await logged(id);
  for (const reader of readers) expect(dataOf(reader)).toEqual(all);
});

test("it resumes after an id; the header wins over from; follow=false ends", async () => {
  const id = await fixture.start(token, "turns");
  await decide(id);
  await fixture.waiting(token, id);
  const total = (await logged(id)).length;
  const read = async (query: string, headers = {}) => {
    const followed = follow(id, `logs/stream?follow=false${query}`, headers);
    await followed.done;
    expect(followed.ended).toBe(true);
    return followed.ids;
  };
  const after = (from: number) => Array.from({ length: total - from }, (_, index) => from + index + 1);
  expect(await read("")).toEqual(after(0));
  expect(await read("&from=3")).toEqual(after(3));
  expect(await read("", { "Last-Event-ID": "4" })).toEqual(after(4));
  expect(await read("&from=1", { "Last-Event-ID": "4" })).toEqual(after(4));
  expect(await read("&from=1000")).toEqual([]);
  await fixture.call(token, "POST", path(id, "cancel"), {});
  const over = follow(id, `stream?from=${total + 1}`);
  await over.done;
  expect([over.ended, over.ids]).toEqual([true, []]);
});

test("from an id never given nothing comes, and the stream still closes at the end", async () => {
  const id = await fixture.start(token, "turns");
  await fixture.waiting(token, id);
  const total = (await logged(id)).length;
  const far = follow(id, "stream?from=9999");
  const near = follow(id, "stream", { "Last-Event-ID": String(total + 1) });
  await until(() => far.comments > 0 && near.comments > 0, { what: "both streams to open" });
  await decide(id);
  await fixture.call(token, "POST", path(id, "cancel"), {});
  await Promise.all([far.done, near.done]);
  expect(far.ids).toEqual([]);
  expect(near.ids[0]).toBe(total + 2);
});

test("followers of a removed run are disconnected", async () => {
  const id = await fixture.start(token, "turns");
  const reader = follow(id);
  await until(() => reader.frames.length >= 3, { what: "the backlog" });
  await fixture.call(token, "DELETE", `/v1/workflows/executions/${id}`);
  await reader.done;
  expect(reader.ended).toBe(true);
});

test("an unknown run is 404 as JSON, before any stream; either scope opens it", async () => {
  const unknown = await fetch(`${fixture.url}${path(Bun.randomUUIDv7(), "stream")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([unknown.status, unknown.headers.get("content-type")]).toEqual([404, "application/json"]);
  await unknown.text();
  const reader = fixture.caller("north", { scopes: new Set(["workflow:logs"]) });
  const id = await fixture.start(token, "turns");
  const allowed = await fetch(`${fixture.url}${path(id, "stream")}?follow=false`, {
    headers: { authorization: `Bearer ${reader}` },
  });
  expect([allowed.status, allowed.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  await allowed.text();
});
