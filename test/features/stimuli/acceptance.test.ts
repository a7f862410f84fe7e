import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Arrival } from "../../../actors/stimulus/stimulus.ts";
import {
  type Acceptance,
  type AcceptOutcome,
  createAcceptance,
  keptMs,
} from "../../../src/features/stimuli/intake/acceptance.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
  await migrate(stores.sql, stores.schema);
});
afterAll(() => stores.dispose());

let clock = 1_767_323_045_000;
const newId = () => Bun.randomUUIDv7();
const open = (): Acceptance => createAcceptance({ sql: stores.sql, now: () => clock, newId, newRunId: newId });

const arrival = (facts: Partial<Arrival>): Arrival => ({
  tenant: "north",
  source: "ci",
  channel: "webhook",
  acknowledge: "routed",
  content: "content",
  contentEncoding: "utf-8",
  contentType: "text/plain",
  contentSize: 7,
  contentSha256: "00",
  headers: { "x-a": "1" },
  headersTruncated: false,
  key: null,
  guard: null,
  sourceId: null,
  override: null,
  replayOf: null,
  receivedBy: { kind: "webhook", sub: "webhook:ci", email: null, tier: null, realm: null },
  ...facts,
});

const acceptedOf = (outcome: AcceptOutcome) => ("accepted" in outcome ? outcome.accepted : null);

test("large contents of one tenant delay neither small ones nor those of other tenants", async () => {
  const acceptance = open();
  const order: string[] = [];
  const send = async (name: string, tenant: string, size: number) => {
    await acceptance.accept(arrival({ tenant, content: "x".repeat(size), contentSize: size }));
    order.push(name);
  };
  const sent = Array.from({ length: 24 }, () => send("flood", "north", 1_000_000));
  sent.push(send("small", "south", 10), send("large", "south", 1_000_000));
  await Promise.all(sent);
  expect(order.indexOf("small")).toBeLessThan(8);
  expect(order.indexOf("large")).toBeLessThan(8);
});

describe("of all that arrives under a key", () => {
  test("at two nodes at once, one is accepted, and it is the one the others are told of", async () => {
    const nodes = [open(), open()];
    let round = 0;
    const name = fc.record({
      tenant: fc.constantFrom("north", "south"),
      source: fc.constantFrom("ci", "shop"),
      key: fc.option(fc.constantFrom("a", "b", 'c"\\', "ключ", ""), { nil: null }),
      node: fc.constantFrom(0, 1),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 60 }), async (names) => {
        const suffix = `#${round++}`;
        const answers = await Promise.all(
          names.map(async ({ node, key, ...rest }) => {
            const full = key === null ? null : key + suffix;
            const outcome = await (nodes[node] as Acceptance).accept(arrival({ ...rest, key: full }));
            return { name: JSON.stringify([rest, full]), full, outcome };
          }),
        );
        for (const [, group] of Map.groupBy(answers, (one) => one.name)) {
          const accepted = group.flatMap(({ outcome }) => acceptedOf(outcome) ?? []);
          if (group[0]?.full === null) {
            expect(accepted).toHaveLength(group.length);
            continue;
          }
          expect(accepted).toHaveLength(1);
          for (const { outcome } of group) {
            if ("duplicateOf" in outcome) expect(outcome.duplicateOf.stimulusId).toBe(accepted[0]?.id ?? "");
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  test("a day later the key is free again, and not a moment before", async () => {
    const acceptance = open();
    const first = acceptedOf(await acceptance.accept(arrival({ key: "daily" })));
    clock += keptMs - 1;
    expect(acceptedOf(await acceptance.accept(arrival({ key: "daily" })))).toBeNull();
    clock += 1;
    expect(await acceptance.holder(arrival({ key: "daily" }))).toBeNull();
    const second = acceptedOf(await acceptance.accept(arrival({ key: "daily" })));
    expect(second?.id).not.toBe(first?.id ?? "");
    expect((await acceptance.holder(arrival({ key: "daily" })))?.stimulusId).toBe(second?.id ?? "");
  });

  test("a forced replay leaves the key to its holder", async () => {
    const acceptance = open();
    const first = acceptedOf(await acceptance.accept(arrival({ key: "forced" })));
    expect(acceptedOf(await acceptance.accept(arrival({ key: "forced" }), { claims: false }))).not.toBeNull();
    expect((await acceptance.holder(arrival({ key: "forced" })))?.stimulusId).toBe(first?.id ?? "");
  });
});

test("what is stored is what arrived", async () => {
  const facts: Partial<Arrival> = {
    content: 'quotes " and \\ and {braces}, NULL',
    headers: { "x-quote": 'a "b" \\ c', __proto__x: "1" },
    headersTruncated: true,
    key: 'k"\\,{}',
    override: { workflow: "a", version: null },
    replayOf: Bun.randomUUIDv7(),
    sourceId: Bun.randomUUIDv7(),
  };
  const accepted = acceptedOf(await open().accept(arrival(facts)));
  const [row] = await stores.sql`select * from stimuli where id = ${accepted?.id ?? ""}`;
  expect(row).toMatchObject({
    tenant: "north",
    content: facts.content,
    headers: JSON.stringify(facts.headers),
    headers_truncated: true,
    idempotency_key: facts.key,
    override: facts.override,
    replay_of: facts.replayOf,
    source_id: facts.sourceId,
    status: "received",
    attempts: 1,
  });
});
