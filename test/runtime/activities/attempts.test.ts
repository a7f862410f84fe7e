/** Attempts at work: what counts as one, what is repeated, and what an outcome says. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { runAttempts } from "../../../src/runtime/activities/attempts.ts";
import { notBegun, type Work } from "../../../src/runtime/activities/fair-queue.ts";
import { type ActivityContext, AskTimeout, MailboxFull, RuntimeUnavailable } from "../../../src/runtime/index.ts";
import { StoreAway } from "../../../src/store/away.ts";
import { openPostgres } from "../../../src/store/postgres/pool.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { activity, at, Harness } from "../harness.ts";

const harness = new Harness();

const aWork = (): Work => ({
  id: crypto.randomUUID(),
  actor: at("any"),
  name: "any",
  input: "null",
  replyType: "worked",
  ...notBegun(0),
});

/** The end of work outside of a node, and what was reported. */
async function attempted(run: (input: Json, attempt: number) => Promise<Json>, most: number, work = aWork()) {
  const reported: string[] = [];
  const end = await runAttempts(
    work,
    activity("any", (input) => run(input, work.attempt), { retry: { attempts: most, firstDelayMs: 1 } }),
    new AbortController().signal,
    {
      // The activity looks at none of it.
      context: () => ({}) as ActivityContext,
      begins() {},
      failed: async (error) => void reported.push(`failed: ${error}`),
      interrupted: (error) => void reported.push(`interrupted: ${error}`),
      random: () => 0,
    },
  );
  return { end, reported };
}

test.each<[string, () => Promise<unknown>, string]>([
  ["a file", () => readFile("/no/such/place/of-the-node"), "An error of the node (ENOENT)"],
  ["a statement", () => harness.stores.sql`select * from no_such_table_of_the_node`, "An error of the node (42P01)"],
  ["the activity itself", () => Promise.reject(new Error("the receiver answered 500")), "the receiver answered 500"],
  ["a stranger's port", () => refusedBy(freePort()), "An error of the node (ECONNREFUSED)"],
])("an outcome names nothing of the node when %s fails for good", async (_, run, message) => {
  const { end, reported } = await attempted(async () => String(await run()), 2);
  expect(end).toMatchObject({ ok: false, code: "attempts_exhausted", message });
  expect(reported).toEqual([expect.stringContaining("failed: "), expect.stringContaining("failed: ")]);
});

/** Where nothing listens. */
function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

/** What connecting to a port fails with. */
const refusedBy = (port: number): Promise<never> =>
  new Promise((_, reject) => void connect(port, "127.0.0.1").on("error", reject));

/** What a statement fails with whose server is not there. */
async function databaseAway(): Promise<never> {
  const url = `postgres://any:any@127.0.0.1:${freePort()}/any`;
  const sql = openPostgres({ url, schema: "public", poolSize: 1, connectMs: 1000 });
  try {
    await sql`select 1`;
    throw new Error("it is there");
  } finally {
    await sql.end({ timeout: 0 });
  }
}

/** What a command fails with whose server is not there. */
async function redisAway(): Promise<never> {
  const redis = openRedis(`redis://127.0.0.1:${freePort()}`);
  try {
    await redis.ping();
    throw new Error("it is there");
  } finally {
    redis.disconnect();
  }
}

test.each<[string, () => Promise<never>]>([
  ["PostgreSQL is known to be away", () => Promise.reject(new StoreAway("PostgreSQL", "it does not answer"))],
  ["PostgreSQL refuses connections", databaseAway],
  [
    "PostgreSQL ends a statement",
    () => harness.stores.sql`do $$ begin raise sqlstate '57014'; end $$` as Promise<never>,
  ],
  ["Redis is away", redisAway],
  ["the runtime is unavailable", () => Promise.reject(new RuntimeUnavailable("The actor moved"))],
  ["an actor does not answer", () => Promise.reject(new AskTimeout("no answer"))],
  ["a mailbox is full", () => Promise.reject(new MailboxFull(1))],
  ["the service refuses for now", () => Promise.reject(new Problem("service_unavailable", "Not now"))],
])("work waits, and no attempt is counted, while %s", async (_, fail) => {
  let runs = 0;
  const attempts = new Set<number>();
  const { end, reported } = await attempted(async (_input, attempt) => {
    attempts.add(attempt);
    return ++runs <= 3 ? await fail() : "done";
  }, 2);
  expect(end).toMatchObject({ ok: true, value: "done" });
  expect([...attempts]).toEqual([1]);
  expect(reported).toEqual([expect.stringContaining("interrupted: ")]);
});
