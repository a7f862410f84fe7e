/** The jobs that wake approvals at their deadlines, over the timers that guarantee them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { deadlineQueue } from "../../../../src/features/approvals/deadlines/deadlines.ts";
import { type OpenQueue, openQueue } from "../../../../src/store/queues.ts";
import { openRedis } from "../../../../src/store/redis/connections.ts";
import { until } from "../../../harness/until.ts";
import { caller, openFixture } from "../fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
let jobs: OpenQueue<unknown>;
const ada = caller("ada");
const hour = 3600_000;
beforeAll(async () => {
  fixture = await openFixture();
  jobs = openQueue(deadlineQueue, { redisServers: fixture.stores.redisUrl, prefix: fixture.stores.prefix });
});
afterAll(async () => {
  await jobs?.close();
  await fixture?.dispose();
});

const jobOf = (id: string) => jobs.queue.getJob(id);
const added = (id: string) => until(async () => (await jobOf(id)) ?? false, { what: "the job" });
const timedOut = async (run: string) => {
  await until(async () => (await fixture.told(run)).length > 0, { what: "the run to be told" });
  expect((await fixture.told(run)).map(({ status }) => status)).toEqual(["timed_out"]);
};

test("a pending approval has one delayed job under its id, a decided one has none", async () => {
  const { id } = await fixture.open({ timeout_ms: hour });
  const job = await added(id);
  expect(await job.getState()).toBe("delayed");
  expect(Math.abs((job.opts.delay ?? 0) - hour)).toBeLessThan(5_000);
  const answer = await fixture.call(ada, `/v1/human-approvals/${id}/approve`, { method: "POST" });
  expect(answer.status).toBe(200);
  await until(async () => (await jobOf(id)) === undefined, { what: "the job's removal" });
});

test("a job wakes an approval whose timer does not fire", async () => {
  const { id, run } = await fixture.open({ timeout_ms: hour });
  const job = await added(id);
  await fixture.advance(hour);
  const { count } = await fixture.sql`delete from runtime_timers where key = ${id}`;
  expect(count).toBe(1);
  await job.promote();
  await timedOut(run);
  await until(async () => (await jobOf(id)) === undefined, { what: "the job's end" });
});

test("a job that a fast machine fires waits for the deadline", async () => {
  const { id, run } = await fixture.open({ timeout_ms: hour });
  await (await added(id)).promote();
  await until(async () => ((await jobOf(id))?.attemptsStarted ?? 0) > 0, { what: "the attempt" });
  await until(async () => (await (await jobOf(id))?.getState()) === "delayed", { what: "the job to wait again" });
  expect(await fixture.told(run)).toEqual([]);
  expect((await fixture.call(ada, `/v1/human-approvals/${id}`)).body.request.status).toBe("pending");
});

test("an approval whose job Redis lost expires by its timer, once", async () => {
  const { id, run } = await fixture.open({ timeout_ms: 2_000 });
  await added(id);
  const redis = openRedis(fixture.stores.redisUrl);
  const names = await redis.keys(`${fixture.stores.prefix}:bull:approval-deadlines:*`);
  expect(names.length).toBeGreaterThan(0);
  await redis.del(...names);
  redis.disconnect();
  expect(await jobOf(id)).toBeUndefined();
  await timedOut(run);
});
