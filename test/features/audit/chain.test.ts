/** The chain of the audit log: sealed after the commit, whole while only the service wrote, broken by anyone else. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { sealEntries, tellHeads } from "../../../src/features/audit/chain/sealing.ts";
import { auditedTenants, parseHead, verifyChain } from "../../../src/features/audit/chain/verify.ts";
import { type AuditedBy, auditedSystem } from "../../../src/features/audit/port.ts";
import { createRefusals } from "../../../src/features/audit/refusals.ts";
import { eraseOldEntries } from "../../../src/features/audit/retention.ts";
import { createAudit } from "../../../src/features/audit/service.ts";
import { emptyAudit } from "../../harness/audit.ts";
import { freshStores } from "../../harness/stores.ts";

const stores = await freshStores();
const { sql } = stores;
const day = 86_400_000;
let now = 0;
const by: AuditedBy = auditedSystem("test");
const audit = createAudit({ now: () => now, newId: () => Bun.randomUUIDv7() });
const seal = () => sealEntries({ sql, now: () => now });
const faultsOf = async (tenant = "acme", head: string | null = null) =>
  (await verifyChain(sql, tenant, head === null ? null : parseHead(head))).faults;

/** Entries of one transaction, a second after those before. */
async function write(count: number, tenant = "acme"): Promise<void> {
  now += 1_000;
  const changes = Array.from({ length: count }, (_, at) => {
    return {
      tenant,
      action: "thing.made",
      target: { type: "thing", id: String(at) },
      details: { at, deep: [{ b: 1.5 }] },
    };
  });
  await sql.begin((tx) => audit.append(tx, by, ...changes));
}

/** As someone does who owns the database and switches the guard off. */
async function tamper(act: (tx: typeof sql) => Promise<unknown>): Promise<void> {
  await sql`alter table audit_entries disable trigger user`;
  await act(sql);
  await sql`alter table audit_entries enable trigger user`;
}

afterAll(() => stores.dispose());
beforeEach(async () => {
  await emptyAudit(sql);
  now = Date.UTC(2031, 4, 2, 10);
});

test("each tenant has a chain, which batches and single entries continue", async () => {
  await write(3);
  await write(1, "other");
  expect(await verifyChain(sql, "acme")).toMatchObject({ entries: 0, waiting: 3, head: null, faults: [] });
  expect(await seal()).toBe(4);
  expect(await seal()).toBe(0);
  await write(2);
  await seal();
  expect(await Array.fromAsync(auditedTenants(sql))).toEqual(["acme", "other"]);
  expect(await verifyChain(sql, "acme")).toEqual({
    tenant: "acme",
    entries: 5,
    since: new Date(Date.UTC(2031, 4, 2, 10, 0, 1)),
    head: expect.stringMatching(/^5:[0-9a-f]{64}$/),
    waiting: 0,
    faults: [],
  });
  expect(await verifyChain(sql, "other")).toMatchObject({ entries: 1, faults: [] });
  expect(await verifyChain(sql, "none")).toMatchObject({ entries: 0, head: null, faults: [] });
});

test("many nodes that seal at once give every entry one place", async () => {
  for (let round = 0; round < 5; round++) {
    await write(40);
    await Promise.all([write(30), write(30, "other"), seal(), seal(), seal()]);
  }
  // More than one batch.
  await write(1_500);
  await seal();
  expect(await verifyChain(sql, "acme")).toMatchObject({ entries: 1_850, waiting: 0, faults: [] });
  expect(await verifyChain(sql, "other")).toMatchObject({ entries: 150, waiting: 0, faults: [] });
});

test("what commits late is sealed later, and no entry waits for it", async () => {
  const open = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = sql.begin(async (tx) => {
    await audit.append(tx, by, { tenant: "acme", action: "slow", target: { type: "t", id: "1" }, details: {} });
    begun.resolve();
    await open.promise;
  });
  await begun.promise;
  await write(2);
  expect(await seal()).toBe(2);
  open.resolve();
  await slow;
  expect(await seal()).toBe(1);
  const rows = await sql`select action from audit_entries order by sequence`;
  expect(rows.map(({ action }) => action)).toEqual(["thing.made", "thing.made", "slow"]);
  expect(await faultsOf()).toEqual([]);
});

describe("with ten sealed entries", () => {
  let head = "";
  beforeEach(async () => {
    await write(10);
    await seal();
    head = (await verifyChain(sql, "acme")).head ?? "";
  });

  test.each([
    ["update audit_entries set outcome = 'denied' where sequence = 3"],
    ["update audit_entries set details = '{}' where sequence is null"],
    ["update audit_entries set sequence = 30 where sequence = 3"],
    ["update audit_entries set sequence = null, chain = null where sequence = 3"],
    ["delete from audit_entries where sequence = 3"],
    ["delete from audit_entries where sequence is null"],
    ["truncate audit_entries"],
  ])("the database refuses: %s", async (statement) => {
    await write(1);
    await expect(sql.unsafe(statement)).rejects.toThrow("are not changed, and go by age alone");
    expect(await verifyChain(sql, "acme")).toMatchObject({ entries: 10, waiting: 1, faults: [] });
  });

  test("a row that was changed is named, whichever of its columns it was", async () => {
    const changes = ["actor = '{}'", "action = 'x'", "details = '{\"at\":5}'", "at = at + interval '1 microsecond'"];
    for (const change of [...changes, "target_id = 'x'", "outcome = 'failed'", "ip = '::1'", "tenant = 'other'"]) {
      await emptyAudit(sql);
      await write(10);
      await seal();
      await tamper((tx) => tx.unsafe(`update audit_entries set ${change} where sequence = 4 and tenant = 'acme'`));
      const expected = change.startsWith("tenant") ? "Entry 4 is missing" : /^Entry 4 \(.*\) is not the one that was/;
      expect([change, await faultsOf()]).toEqual([change, [expect.stringMatching(expected)]]);
    }
    // The entry that was moved is found in the other tenant as well.
    expect(await faultsOf("other")).toEqual(["Entries 1 to 3 are missing", "The record of the chain is missing"]);
  });

  test("a row that was deleted is named, and several in a row", async () => {
    await tamper((tx) => tx`delete from audit_entries where sequence in (2, 5, 6, 7)`);
    expect(await faultsOf()).toEqual(["Entry 2 is missing", "Entries 5 to 7 are missing"]);
  });

  test("two rows that changed places are named", async () => {
    await tamper(async (tx) => {
      await tx`update audit_entries set sequence = 100 where sequence = 4`;
      await tx`update audit_entries set sequence = 4 where sequence = 7`;
      await tx`update audit_entries set sequence = 7 where sequence = 100`;
    });
    const named = (await faultsOf()).map((sentence) => /^Entry (\d+) .* is not the one/.exec(sentence)?.[1]);
    expect(named).toEqual(["4", "5", "7", "8"]);
  });

  test("an end that was cut off is told, also with the record of the chain", async () => {
    await tamper((tx) => tx`delete from audit_entries where sequence > 8`);
    expect(await faultsOf()).toEqual(["Entries 9 to 10 are missing"]);
    // As someone does who knows of the record: the chain is whole again, but is not the one that was noted.
    await sql`
      update audit_chains set sequence = 8, head = (select chain from audit_entries where sequence = 8)`;
    expect(await faultsOf()).toEqual([]);
    expect(await faultsOf("acme", head)).toEqual(["The chain ends at 8, before the noted head 10"]);
  });

  test("an entry that was slipped in, and a chain that was written anew, are told", async () => {
    await sql`
      insert into audit_entries (id, at, tenant, actor, action, target_type, target_id, outcome, details, sequence, chain)
      values (gen_random_uuid(), now(), 'acme', '{}', 'forged', 't', '1', 'allowed', '{}', 11, ${Buffer.alloc(32)})`;
    expect((await faultsOf()).at(-1)).toBe("Entries after 10, the end of the chain");
    await tamper((tx) => tx`delete from audit_entries where action = 'forged'`);
    await tamper((tx) => tx`update audit_entries set outcome = 'denied', sequence = null, chain = null`);
    await sql`delete from audit_chains`;
    await seal();
    expect(await faultsOf()).toEqual([]);
    expect(await faultsOf("acme", head)).toEqual(["The chain was written anew: its entry 10 is not the noted head"]);
  });

  test("the end is noted in the log of the service, once while it does not grow", async () => {
    const told: unknown[] = [];
    const info = (event: string, facts: object) => void told.push({ event, ...facts });
    await Promise.all([tellHeads({ sql, info }), tellHeads({ sql, info })]);
    expect(told).toEqual([{ event: "audit_chain_head", tenant: "acme", head }]);
    await write(1);
    await seal();
    await tellHeads({ sql, info });
    expect(told).toHaveLength(2);
    expect(await faultsOf("acme", head)).toEqual([]);
  });

  test("what goes by age leaves a whole chain, and a noted end still holds", async () => {
    now += 30 * day;
    await write(5);
    await seal();
    const erase = () => eraseOldEntries({ sql, retentionDays: 400, now: () => now + 380 * day });
    const erased = await Promise.all([erase(), erase()]);
    expect(erased.toSorted()).toEqual([0, 10]);
    const report = await verifyChain(sql, "acme", parseHead(head));
    expect(report).toMatchObject({ entries: 5, head: expect.stringMatching(/^15:/), faults: [] });
    expect(await faultsOf("acme", `3:${"0".repeat(64)}`)).toEqual([
      "The noted head 3 was erased by age: it tells nothing",
    ]);
    // And once all of it is gone, what comes goes on where it ended.
    now += 500 * day;
    expect(await eraseOldEntries({ sql, retentionDays: 400, now: () => now })).toBe(5);
    await write(1);
    await seal();
    expect(await verifyChain(sql, "acme")).toMatchObject({
      entries: 1,
      head: expect.stringMatching(/^16:/),
      faults: [],
    });
    await tamper((tx) => tx`delete from audit_entries`);
    expect(await faultsOf()).toEqual(["Entry 16 is missing"]);
  });
});

test("a refusal is counted until it is sealed; later ones have another entry", async () => {
  const refusals = createRefusals({ sql, now: () => now, report: () => {} });
  const incoming = { request: new Request("http://x.test"), requestId: "r", address: "192.0.2.7" };
  const refused = async (times: number) => {
    for (let count = 0; count < times; count++) refusals.failed(incoming as never, "invalid_token");
    await refusals.write();
  };
  await refused(2);
  expect(await seal()).toBe(0);
  await refused(3);
  const counts = async () =>
    (await sql`select details ->> 'count' as count from audit_entries order by at`).map(({ count }) => Number(count));
  expect(await counts()).toEqual([5]);
  await expect(sql`update audit_entries set details = details || '{"count": 1}'`.execute()).rejects.toThrow("by age");
  // A node that was away from the database counted within the same minute, and writes once the entry is sealed.
  for (let count = 0; count < 4; count++) refusals.failed(incoming as never, "invalid_token");
  now += 200_000;
  expect(await seal()).toBe(1);
  await refusals.write();
  expect(await counts()).toEqual([5, 4]);
  now += 200_000;
  await seal();
  expect(await verifyChain(sql, "svc-system")).toMatchObject({ entries: 2, waiting: 0, faults: [] });
});
