/** An agent's stream: its own events and those of its executions, in one sequence (docs/reference/executions.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Followed } from "../../../harness/events.ts";
import { manifest, say } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../fixture.ts";

let fixture: ExecutionFixture;
beforeAll(async () => {
  fixture = await ExecutionFixture.open();
});
afterAll(() => fixture.close());

type Headers = Readonly<Record<string, string>>;

async function follow(agentId: string, query = "", headers: Headers = {}): Promise<Followed> {
  const bearer = { Authorization: `Bearer ${await fixture.node.token()}`, ...headers };
  return new Followed(`${fixture.node.url}/v1/agents/${agentId}/events${query}`, bearer);
}
async function stored(agentId: string, query = ""): Promise<Followed> {
  const followed = await follow(agentId, `?follow=false${query}`);
  await followed.done;
  return followed;
}
const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const starts = (followed: Followed) => followed.names.filter((name) => name === "execution_started").length;
const ends = (followed: Followed) => followed.names.filter((name) => name === "execution_completed").length;
const script = [say("done")];

async function run(agentId: string): Promise<string> {
  const answer = await fixture.start(agentId);
  expect(answer.status).toBe(200);
  return answer.body.execution_id;
}

test("stored events come first, then live ones; ids have no gap; the removal ends it", async () => {
  const agentId = await fixture.deploy({ script });
  const first = await run(agentId);
  await fixture.ended(first);
  const followed = await follow(agentId);
  await until(() => ends(followed) === 1, { what: "the backlog" });
  expect(followed.names[0]).toBe("agent_deployed");
  const second = await run(agentId);
  await until(() => ends(followed) === 2, { timeoutMs: 30_000, what: "the second run" });
  expect((await fixture.node.call("PATCH", `/v1/agents/${agentId}`, { status: "paused" })).status).toBe(200);
  await until(() => followed.names.includes("agent_paused"));
  expect((await fixture.node.call("DELETE", `/v1/agents/${agentId}`)).status).toBe(200);
  await followed.done;
  expect(followed.ended).toBe(true);
  expect(followed.names.at(-1)).toBe("agent_removed");
  expect(followed.ids).toEqual(upTo(followed.ids.length));
  expect(followed.text.match(/retry: 3000/g)).toHaveLength(1);
  // Every event of both executions, in their own order.
  for (const executionId of [first, second]) {
    const seen = followed.frames.filter(({ body }) => body.execution_id === executionId).map(({ name }) => name);
    expect(seen).toEqual((await fixture.events(executionId)).map(({ name }) => name));
  }
  const again = await fixture.node.call("GET", `/v1/agents/${agentId}/events`);
  expect([again.status, again.body.code]).toEqual([404, "agent_not_found"]);
});

test("resuming by header or by `from` repeats nothing; `backlog` bounds the beginning", async () => {
  const agentId = await fixture.deploy({ script });
  await fixture.ended(await run(agentId));
  const all = await stored(agentId);
  const last = all.ids.length;
  expect(all.ids).toEqual(upTo(last));
  expect((await stored(agentId, "&from=3")).ids).toEqual(upTo(last - 3, 4));
  const header = await follow(agentId, "?follow=false&from=0", { "Last-Event-ID": "5" });
  await header.done;
  expect(header.ids).toEqual(upTo(last - 5, 6));
  expect((await stored(agentId, "&backlog=2")).ids).toEqual([last - 1, last]);
  expect((await stored(agentId, "&backlog=0")).ids).toEqual([]);
  expect((await stored(agentId, `&from=${last + 10}`)).ids).toEqual([]);
  const { frames } = await stored(agentId, "&events=agent_deployed&format=flat");
  expect(frames.map(({ text }) => JSON.parse(text.split("data: ")[1] ?? "").type)).toEqual([
    "agent_deployed",
    "execution_completed",
  ]);
  const same = await fetch(`${fixture.node.url}/v1/agents/${agentId}/stream?follow=false`, {
    headers: { Authorization: `Bearer ${await fixture.node.token()}` },
  });
  expect(await same.text()).toBe(all.text);
});

test("prompts are shown on request only", async () => {
  const agentId = await fixture.deploy({ script });
  await fixture.ended(await run(agentId));
  const prompts = async (query: string) =>
    (await stored(agentId, query)).frames
      .filter(({ name }) => name === "llm_interaction")
      .map(({ body }) => body.prompt);
  expect(await prompts("")).toEqual([null]);
  expect(await prompts("&verbose=true")).toEqual([expect.any(String)]);
});

test("erased executions leave gaps; their ids are not given again", async () => {
  const agentId = await fixture.deploy({ script });
  const [first, second] = [await run(agentId), await run(agentId)];
  await fixture.ended(first);
  await fixture.ended(second);
  const before = await stored(agentId);
  expect((await fixture.node.call("DELETE", `/v1/executions/${first}`)).status).toBe(200);
  await fixture.ended(await run(agentId));
  const after = await stored(agentId);
  const kept = before.frames.filter(({ body }) => body.execution_id !== first);
  expect(after.frames.slice(0, kept.length).map(({ text }) => text.replace("retry: 3000\n", ""))).toEqual(
    kept.map(({ text }) => text.replace("retry: 3000\n", "")),
  );
  expect(after.ids[kept.length]).toBe((before.ids.at(-1) ?? 0) + 1);
});

test("a global agent shows each tenant its own executions", async () => {
  const deployed = await fixture.node.call("POST", "/v1/agents?scope=global", manifest({ script }));
  expect(deployed.status).toBe(200);
  const agentId = deployed.body.agent_id;
  await fixture.ended(await run(agentId));
  const other = { "X-Tenant-Id": "svc-consumer" };
  const foreign = await follow(agentId, "?follow=false", other);
  await foreign.done;
  expect(foreign.response?.status).toBe(200);
  expect(foreign.names).toEqual(["agent_deployed"]);
  expect(ends(await stored(agentId))).toBe(1);
  const live = await follow(agentId, "", other);
  await until(() => live.names.length === 1);
  const demoted = await fixture.node.call("POST", `/v1/agents/${agentId}/scope`, { scope: "tenant" });
  expect(demoted.status).toBe(200);
  await live.done;
  expect(live.ended).toBe(true);
  await fixture.node.call("DELETE", `/v1/agents/${agentId}`);
});

test.each([
  ["not-an-id", "", 400],
  ["0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11", "", 404],
  ["0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11", "?backlog=1001", 422],
  ["0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11", "?backlog=-1", 422],
  ["0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11", "?from=%00", 422],
])("%s%s is %d", async (id, query, status) => {
  expect((await fixture.node.call("GET", `/v1/agents/${id}/events${query}`)).status).toBe(status);
});

test("readers that come and go while executions run see the same sequence", async () => {
  const agentId = await fixture.deploy({ script });
  const early = await follow(agentId);
  const readers: Followed[] = [early];
  for (let round = 0; round < 6; round++) {
    await Promise.all([run(agentId), run(agentId)]);
    readers.push(await follow(agentId, "?from=0"));
    const seen = early.ids.at(-1) ?? 0;
    readers.push(await follow(agentId, `?from=${Math.max(0, seen - 3)}`));
  }
  await until(() => readers.every((reader) => reader.ids.at(-1) === early.ids.at(-1)) && ends(early) === 12, {
    timeoutMs: 60_000,
    what: "everybody to have seen everything",
  });
  expect(starts(early)).toBe(12);
  const texts = new Map(early.frames.map(({ id, body }) => [id, JSON.stringify(body)]));
  expect(early.ids).toEqual(upTo(early.ids.length));
  for (const { frames, ids } of readers) {
    expect(ids).toEqual(upTo(ids.length, ids[0]));
    for (const { id, body } of frames) expect(JSON.stringify(body)).toBe(texts.get(id) ?? "");
  }
  for (const reader of readers) reader.close();
}, 90_000);
