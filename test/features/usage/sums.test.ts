/** Usage summed up by hours and days: whatever is summed up already, what is read is the same (docs/reference/usage.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { divides, type Figure, type Figures, figures, figuresOf, groupings } from "../../../actors/usage/figures.ts";
import { dayMs, hourMs, type Span } from "../../../actors/usage/spans.ts";
import { type Activity, addActivities } from "../../../src/features/usage/activities/port.ts";
import { reportRecords, type SummedRow } from "../../../src/features/usage/reports/records.ts";
import { createUsage } from "../../../src/features/usage/reports/service.ts";
import { eraseOldUsage } from "../../../src/features/usage/upkeep/retention.ts";
import { sampleStorage } from "../../../src/features/usage/upkeep/sampling.ts";
import { sumUp } from "../../../src/features/usage/upkeep/summing.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

type Made = Omit<Activity, "tenant" | "id"> & { readonly ago: number };

const named = (...names: readonly string[]) => fc.constantFrom(null, ...names);
/** Within five days, to the minute. */
const ago = fc.integer({ min: 10, max: 5 * 24 * 60 }).map((minutes) => minutes * 60_000);
const whose = { ago, agent_id: named("a1", "a2"), workflow: named("flow", "=flow"), model: fc.constant(null) };
const activity: fc.Arbitrary<Made> = fc.oneof(
  fc.record({ ...whose, kind: fc.constant("execution" as const), tool: fc.constant(null) }),
  fc.record({
    ...whose,
    ...{ kind: fc.constant("model_call" as const), model: named("default", "large"), tool: fc.constant(null) },
    ...{ input_tokens: fc.nat(5_000), output_tokens: fc.nat(500) },
    cost: fc.nat(1_000_000).map((parts) => parts / 1_000_000),
  }),
  fc.record({ ...whose, kind: fc.constant("tool_call" as const), tool: named("fs.read", "cmd.run") }),
  fc.record({ ...whose, kind: fc.constant("instance" as const), tool: fc.constant(null), duration_ms: fc.nat(90_000) }),
  fc.record({
    ...{ ago, agent_id: fc.constant(null), workflow: fc.constant(null), model: fc.constant(null) },
    ...{ kind: fc.constant("host_command" as const), tool: named("shell") },
  }),
);

/** Stores them as they would be had the outcomes been stored then. */
async function store(tenant: string, now: number, made: readonly Made[]): Promise<void> {
  const rows = made.map(({ ago: _, ...one }) => ({ ...one, tenant, id: crypto.randomUUID() }));
  if (rows.length === 0) return;
  // Twice: what is stored again does not count again.
  for (const { text, parameters } of [addActivities(rows), addActivities(rows)]) {
    await stores.sql.unsafe(text, parameters as string[]);
  }
  const times = rows.map(({ id }, index) => ({ id, at: new Date(now - (made[index]?.ago ?? 0)).toISOString() }));
  await stores.sql`
    update usage_activities u set at = t.at
    from json_to_recordset(${JSON.stringify(times)}::text::json) as t (id uuid, at timestamptz) where u.id = t.id`;
}

const partOf = (one: Made, figure: Figure): number => {
  const of: Partial<Record<Figure, number>> = {
    executions: one.kind === "execution" ? 1 : 0,
    tool_calls: one.kind === "tool_call" ? 1 : 0,
    host_commands: one.kind === "host_command" ? 1 : 0,
    input_tokens: one.input_tokens ?? 0,
    output_tokens: one.output_tokens ?? 0,
    cost: one.cost ?? 0,
    sandbox_seconds: (one.duration_ms ?? 0) / 1000,
  };
  return of[figure] ?? 0;
};
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const add = (rows: readonly Figures[], figure: Figure): number => sumOf(rows.map((row) => row[figure] ?? 0));

test("all groupings have the same totals, rows add up to them, summed up or not", async () => {
  const { sql } = stores;
  const { read } = reportRecords(sql);
  await fc.assert(
    fc.asyncProperty(
      fc.array(activity, { maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(120), fc.nat(2 ** 33)), { maxLength: 5 }),
      fc.tuple(ago, ago),
      async (made, samples, [one, other]) => {
        const tenant = `t-${crypto.randomUUID()}`;
        const now = Date.now() - (Date.now() % 60_000);
        await store(tenant, now, made);
        const stored = new Map(samples.map(([hours, bytes]) => [now - (now % hourMs) - hours * hourMs, bytes]));
        for (const [hour, bytes] of stored) {
          await sql`insert into usage_storage (tenant, hour, bytes) values (${tenant}, ${new Date(hour)}, ${bytes})`;
        }
        const span: Span = { from: now - Math.max(one, other) - 30_000, to: now - Math.min(one, other) + 30_000 };
        const within = made.filter(({ ago: before }) => now - before >= span.from && now - before < span.to);
        const bytes = sumOf([...stored].flatMap(([hour, held]) => (hour >= span.from && hour < span.to ? [held] : [])));
        const expected = (figure: Figure): number =>
          figure === "storage_gib_hours" ? bytes / 2 ** 30 : sumOf(within.map((each) => partOf(each, figure)));

        const check = async () => {
          for (const grouping of groupings) {
            const { totals, rows } = await read(tenant, span, grouping, { limit: 500, offset: 0, after: null });
            const whole = figuresOf(totals, null, true);
            const shown = rows.map((row) => figuresOf(row, grouping, true));
            for (const figure of figures) {
              expect(whole[figure]).toBeCloseTo(expected(figure), 9);
              if (divides(grouping, figure)) expect(add(shown, figure)).toBeCloseTo(expected(figure), 9);
              else expect(shown.map((row) => row[figure])).toEqual(shown.map(() => null));
            }
            const keys = rows.map(({ key }: SummedRow) => key);
            expect(new Set(keys).size).toBe(keys.length);
          }
        };
        await sql`
          update usage_progress set hours_until = date_trunc('hour', now() - interval '7 days', 'UTC'),
            days_until = date_trunc('day', now() - interval '7 days', 'UTC')`;
        await sql`delete from usage_sums`;
        await check();
        // Some of it, then all of it.
        for (let round = 0; await sumUp(sql); round++) if (round === 4) await check();
        await check();
      },
    ),
    { numRuns: 6 },
  );
});

test("CSV has the rows of the report, no formulas, and no cost where that is hidden", async () => {
  const tenant = `t-${crypto.randomUUID()}`;
  const made = fc.sample(activity, { numRuns: 80, seed: 7 });
  await store(tenant, Date.now(), made);
  const usage = createUsage({ reports: reportRecords(stores.sql), agentNames: async () => new Map([["a1", "-2+3"]]) });
  const span = { from: Date.now() - 6 * dayMs, to: Date.now() };
  for (const grouping of groupings) {
    for (const showsCost of [true, false]) {
      const asked = { tenant, span, grouping, showsCost };
      const { items } = await usage.page(asked, { limit: 500, offset: 0, after: null });
      const lines = (await Array.fromAsync(usage.csv(asked))).join("").trimEnd().split("\n");
      expect(lines[0]).toBe(["key", "name", ...figures].join(","));
      expect(lines.slice(1)).toEqual(
        items.map(({ key, name, ...sums }) =>
          [key, name, ...figures.map((figure) => sums[figure])]
            .map((cell) => (typeof cell === "string" && /^[-=]/.test(cell) ? `'${cell}` : String(cell ?? "")))
            .join(","),
        ),
      );
      if (!showsCost) expect(items.every(({ cost }) => cost === null)).toBe(true);
    }
  }
});

test("pages go on behind each other, those without a key last", async () => {
  const tenant = `t-${crypto.randomUUID()}`;
  const one = { kind: "execution", model: null, workflow: null, tool: null, ago: 60_000 } as const;
  await store(
    tenant,
    Date.now(),
    [null, "b", "c", "a", "b"].map((agent_id) => ({ ...one, agent_id })),
  );
  const usage = createUsage({ reports: reportRecords(stores.sql), agentNames: async () => new Map() });
  const asked = { tenant, span: { from: 0, to: Date.now() }, grouping: "agent", showsCost: true } as const;
  const keys: (string | null)[] = [];
  let after: readonly string[] | null = null;
  for (let page = 0; page < 4; page++) {
    const { items, next_cursor } = await usage.page(asked, { limit: 1, offset: 0, after });
    keys.push(...items.map(({ key }) => key));
    after = next_cursor === null ? null : JSON.parse(Buffer.from(next_cursor, "base64url").toString());
  }
  expect(keys).toEqual(["a", "b", "c", null]);
  expect(after).toBeNull();
});

test("storage is looked at once in an hour", async () => {
  const { sql } = stores;
  await sql`update usage_progress set sampled = null`;
  const tenant = `t-${crypto.randomUUID()}`;
  const held = async (_: unknown, after: string) => (after < tenant ? [{ tenant, bytes: 5 * 2 ** 30 }] : []);
  expect(await Promise.all([sampleStorage({ sql, held }), sampleStorage({ sql, held })])).toContain(true);
  expect(await sampleStorage({ sql, held })).toBe(false);
  const { totals } = await reportRecords(sql).read(tenant, { from: Date.now() - hourMs, to: Date.now() }, "agent", {
    limit: 1,
    offset: 0,
    after: null,
  });
  expect(figuresOf(totals, null, true).storage_gib_hours).toBe(5);
});

test("usage goes when it is older than its retention, of every tenant", async () => {
  const { sql } = stores;
  const tenants = ["x", "y"].map((name) => `${name}-${crypto.randomUUID()}`);
  const one = { kind: "execution", agent_id: null, model: null, workflow: null, tool: null } as const;
  for (const tenant of tenants)
    await store(
      tenant,
      Date.now(),
      [40, 20].map((days) => ({ ...one, ago: days * dayMs })),
    );
  await sql`
    insert into usage_storage select tenant, now() - interval '40 days', 1 from unnest(${tenants}::text[]) as t (tenant)`;
  expect(await eraseOldUsage({ sql, retentionDays: 31, now: Date.now })).toBeGreaterThanOrEqual(4);
  const left = await sql`select tenant from usage_activities where tenant = any(${tenants}::text[])`;
  expect(left).toHaveLength(2);
  expect(await sql`select from usage_storage where tenant = any(${tenants}::text[])`).toHaveLength(0);
});
