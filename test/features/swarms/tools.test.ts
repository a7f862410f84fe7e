/** Locks and messages of a swarm (docs/reference/management-tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Found } from "../../../src/features/executions/port.ts";
import { collected, type ManagementTools, type ToolCaller } from "../../../src/features/management-tools/port.ts";
import { swarmRecords } from "../../../src/features/swarms/records.ts";
import { swarmTools } from "../../../src/features/swarms/tools.ts";
import { identityOf } from "../../harness/callers.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let tools: ManagementTools;
const [founder, one, two, stranger] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [
  string,
  string,
  string,
  string,
];
/** By execution: its swarm and whether it has ended. */
const known = new Map<string, { swarm: string | null; ended: boolean }>();
const children = new Set<string>();
let isDissolved = false;

beforeAll(async () => {
  stores = await freshStores();
  for (const id of [founder, one, two]) known.set(id, { swarm: founder, ended: false });
  known.set(stranger, { swarm: null, ended: false });
  tools = collected(
    swarmTools({
      records: swarmRecords(stores.sql),
      executions: {
        async find(tenant, id) {
          const facts = tenant === "north" ? known.get(id) : undefined;
          if (facts === undefined) throw new Problem("execution_not_found", "Execution not found");
          const state = {
            header: { hierarchy: { swarm_id: facts.swarm } },
            status: facts.ended ? "failed" : "running",
          };
          // As much of an execution as these tools look at.
          return { state: { ...state, ending: facts.ended ? {} : null } } as unknown as Found;
        },
      },
      hasChildren: async (_, id) => children.has(id),
      isDissolved: async () => isDissolved,
    }),
  );
});
afterAll(() => stores?.dispose());

async function call(name: string, executionId: string | null, given: Json, workId = crypto.randomUUID()) {
  const signal = new AbortController().signal;
  const identity = identityOf("north");
  const caller: ToolCaller = {
    tenant: "north",
    entry: "dispatch",
    identity,
    executionId,
    ceilings: [],
    requestId: null,
    workId,
    signal,
  };
  const outcome = await tools.call(`svc.swarm.${name}`, caller, given);
  return (outcome.status === "succeeded" ? outcome.result : outcome) as LooseJson;
}

test("a session, a stranger, a founder without members and a dissolved swarm are none", async () => {
  for (const id of [null, stranger, founder, crypto.randomUUID()])
    expect(await call("lock", id, { resource_id: "r" })).toMatchObject({ code: "not_in_swarm" });
  children.add(founder);
  expect(await call("lock", founder, { resource_id: "r" })).toMatchObject({ acquired: true });
  isDissolved = true;
  expect(await call("lock", founder, { resource_id: "r" })).toMatchObject({ code: "not_in_swarm" });
  isDissolved = false;
});

test("of two members one gets the lock, the other after its end or the holder's", async () => {
  const take = (id: string, more: object = {}) => call("lock", id, { resource_id: "file", ...more } as Json);
  expect(await take(one)).toMatchObject({ acquired: true, held_by: one });
  const refused = await take(two);
  expect(refused).toMatchObject({ acquired: false, held_by: one });
  expect((await take(one, { ttl_seconds: 600 })).expires_at > refused.expires_at).toBeTrue();
  expect(await call("unlock", two, { resource_id: "file" })).toMatchObject({ released: false });
  expect(await call("unlock", one, { resource_id: "file" })).toMatchObject({ released: true });
  expect(await take(two)).toMatchObject({ acquired: true });
  await stores.sql`update swarm_locks set expires_at = now() where resource_id = 'file'`;
  expect(await take(one)).toMatchObject({ acquired: true });
  known.set(one, { swarm: founder, ended: true });
  expect(await take(two)).toMatchObject({ acquired: true, held_by: two });
  known.set(one, { swarm: founder, ended: false });
});

test("a message arrives once, in the order of sending, also for a repeated call", async () => {
  const sent = crypto.randomUUID();
  for (const payload of ["first", "second"]) await call("send", one, { to: two, payload });
  for (let time = 0; time < 2; time++) await call("send", one, { to: two, payload: { n: 3 } }, sent);
  const receipt = crypto.randomUUID();
  const first = await call("receive", two, { limit: 2 }, receipt);
  expect(first.messages.map((one: LooseJson) => one.payload)).toEqual(["first", "second"]);
  expect(await call("receive", two, { limit: 2 }, receipt)).toEqual(first);
  expect(await call("receive", two, {})).toMatchObject({ count: 1, messages: [{ from: one, payload: { n: 3 } }] });
  expect(await call("receive", two, {})).toMatchObject({ count: 0 });
  expect(await call("receive", founder, {})).toMatchObject({ count: 0 });
});

test("messages are bounded in size and number, and stay within the swarm", async () => {
  expect(await call("send", one, { to: stranger, payload: 1 })).toMatchObject({ code: "not_in_swarm" });
  expect(await call("send", one, { to: two, payload: "x".repeat(16_384) })).toMatchObject({
    code: "invalid_arguments",
  });
  await stores.sql`
    insert into swarm_messages (tenant, swarm_id, id, sender, receiver, payload, payload_bytes, sent_at)
    select 'north', ${founder}, gen_random_uuid(), ${one}, ${founder}, '1', 1, now() from generate_series(1, 1000)`;
  expect(await call("send", one, { to: founder, payload: 1 })).toMatchObject({ code: "mailbox_full" });
  known.set(two, { swarm: founder, ended: true });
  expect(await call("send", one, { to: two, payload: 1 })).toMatchObject({ code: "execution_not_running" });
});

test("locks whose time is over count no longer, and what is over is swept whole", async () => {
  known.set(two, { swarm: founder, ended: false });
  await stores.sql`
    insert into swarm_locks (tenant, swarm_id, resource_id, held_by, acquired_at, expires_at)
    select 'north', ${founder}, 'many-' || n, ${one}, now(), now() + interval '1 hour' from generate_series(1, 1000) n
    on conflict do nothing`;
  expect(await call("lock", two, { resource_id: "more" })).toMatchObject({ code: "too_many_locks" });
  await stores.sql`update swarm_locks set expires_at = now() where resource_id like 'many-%'`;
  expect(await call("lock", two, { resource_id: "more" })).toMatchObject({ acquired: true });
  const old = await stores.sql`update swarm_messages set sent_at = now() - interval '31 days' returning 1`;
  const records = swarmRecords(stores.sql);
  let rounds = 1;
  while (await records.sweep(400)) rounds += 1;
  expect(rounds).toBe(Math.floor(old.length / 400) + 1);
  expect((await stores.sql`select 1 from swarm_messages`).length).toBe(0);
});
