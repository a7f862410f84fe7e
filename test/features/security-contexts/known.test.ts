/** How soon a change of a security context binds (docs/reference/security-contexts.md). */
import { expect, test } from "bun:test";
import type { SecurityContextSpec } from "../../../actors/policy/security/spec.ts";
import { createContextReader } from "../../../src/features/security-contexts/known.ts";
import type { ContextRow } from "../../../src/features/security-contexts/records.ts";

const specOf = (...patterns: readonly string[]): SecurityContextSpec => ({
  capabilities: patterns.map((tool_pattern) => ({ tool_pattern })),
  deny_list: [],
});
const rowOf = (name: string, version: number, spec = specOf("*")): ContextRow => ({
  tenant: "acme",
  name,
  description: null,
  spec,
  usable_by: null,
  version,
  updated_by: null,
  created_at: new Date(1),
  updated_at: new Date(1),
});

function open(rows: ContextRow[]) {
  let heard: (holder: string | null) => void = () => {};
  const state = { at: 1_000_000, reads: 0, isAway: false, stall: null as Promise<void> | null };
  const reader = createContextReader({
    records: {
      async find(_, name) {
        state.reads++;
        const found = rows.find((row) => row.name === name) ?? null;
        await state.stall;
        if (state.isAway) throw new Error("PostgreSQL is away");
        return found;
      },
    },
    notices: {
      on(_, listener) {
        heard = listener;
        return () => {};
      },
      tell: (_, holder) => heard(holder),
    },
    now: () => state.at,
  });
  const versions = async () => (await reader.bindings("acme", "build", ["outer"])).map(({ version }) => version);
  return { state, reader, versions, hear: (holder: string | null) => heard(holder) };
}

test("a context is read once in three seconds, and anew at once after a notice", async () => {
  const rows = [rowOf("build", 1), rowOf("outer", 1)];
  const { state, versions, hear } = open(rows);
  expect(await Promise.all([versions(), versions()])).toEqual([
    [1, 1],
    [1, 1],
  ]);
  expect(state.reads).toBe(2);
  rows[0] = rowOf("build", 2);
  state.at += 2999;
  expect(await versions()).toEqual([1, 1]);
  state.at += 2;
  expect(await versions()).toEqual([2, 1]);
  rows[0] = rowOf("build", 3);
  hear("other");
  expect(await versions()).toEqual([2, 1]);
  hear("acme");
  expect(await versions()).toEqual([3, 1]);
  rows[1] = rowOf("outer", 2);
  hear(null);
  expect(await versions()).toEqual([3, 2]);
});

test("what was being read when a notice came is not kept", async () => {
  const rows = [rowOf("build", 1)];
  const { state, reader, hear } = open(rows);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.stall = promise;
  const before = reader.find("acme", "build");
  rows[0] = rowOf("build", 2);
  hear("acme");
  const after = reader.find("acme", "build");
  resolve();
  expect([(await before)?.version, (await after)?.version]).toEqual([1, 2]);
  expect((await reader.find("acme", "build"))?.version).toBe(2);
});

test("a deleted context refuses all; while PostgreSQL is away nothing older is used", async () => {
  const rows = [rowOf("build", 4)];
  const { state, reader, versions } = open(rows);
  expect(await versions()).toEqual([4, 0]);
  rows.pop();
  state.at += 3001;
  expect(await reader.bindings("acme", "build", [])).toEqual([{ name: "build", version: 0, spec: null }]);
  state.at += 3001;
  state.isAway = true;
  await expect(versions()).rejects.toThrow("away");
  state.isAway = false;
  rows.push(rowOf("build", 1));
  expect(await versions()).toEqual([1, 0]);
});

test("the system's contexts need no record and are the same for every tenant", async () => {
  const { reader } = open([]);
  for (const tenant of ["acme", "other"]) {
    expect((await reader.find(tenant, "svc-agent-runtime"))?.version).toBe(1);
    expect(await reader.find(tenant, "build")).toBeNull();
    expect(await reader.defaultOf(tenant)).toBe("svc-agent-runtime");
  }
});
