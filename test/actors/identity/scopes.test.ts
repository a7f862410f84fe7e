import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allScopes, effectiveScopes, type ScopeColumn, scopesOfColumn } from "../../../actors/identity/scopes.ts";

// The table of docs/reference/identity.md, as it stands there.
const columns: readonly ScopeColumn[] = ["A", "O", "S", "R", "T", "M", "C"];
const page = readFileSync(join(import.meta.dir, "../../../docs/reference/identity.md"), "utf8");
const table = page.match(/^\| .*(?: +\| +[✔–]){7} +\|$/gm) ?? [];

const rows = table
  .map((line) => line.slice(2, -2).replace(/ +/g, " ").trim())
  .map((line) => {
    const [names = "", ...marks] = line.split(" | ");
    const scopes = names.split(" · ").flatMap((group) => {
      const [first = "", ...rest] = group.split(", ");
      return [first, ...rest.map((name) => `${first.split(":")[0]}:${name}`)];
    });
    return { scopes, holders: columns.filter((_, index) => marks[index] === "✔") };
  });

test("the table names every scope and no other", () => {
  expect([...allScopes].sort()).toEqual(rows.flatMap(({ scopes }) => scopes).sort());
});

test.each(columns.map((column) => [column]))("column %s holds what the table says", (column) => {
  const expected = rows.filter(({ holders }) => holders.includes(column)).flatMap(({ scopes }) => scopes);
  expect([...scopesOfColumn(column)].sort()).toEqual(expected.sort());
});

const consumer = { kind: "consumer", role: null, membership: null } as const;
const readonly = { kind: "operator", role: "readonly", membership: null } as const;

const member = { kind: "tenant_user", role: null, membership: "member" } as const;

test("a claim adds under union for the platform's own callers, nothing for others", () => {
  const claimed = ["secret:read", "tenant:provision", "stimulus:manage", "billing:*", "*", "openid", "node:read"];
  expect(effectiveScopes(readonly, claimed, "union").has("tenant:provision")).toBe(true);
  expect(effectiveScopes(readonly, claimed, "union").has("openid")).toBe(false);
  expect(effectiveScopes(consumer, claimed, "union")).toEqual(effectiveScopes(consumer, [], "union"));
  expect(effectiveScopes(member, claimed, "union")).toEqual(effectiveScopes(member, [], "union"));
});

test("a consumer who is a member of an enterprise tenant holds what its members hold", () => {
  expect(effectiveScopes({ ...consumer, membership: "member" }, [], "union")).toEqual(
    effectiveScopes(member, [], "union"),
  );
});

test("wildcards expand within what the holder may have", () => {
  expect(effectiveScopes(readonly, ["agent:*"], "union").has("agent:deploy")).toBe(true);
  expect([...effectiveScopes(consumer, ["svc.edge.*", "tenant:*"], "restrict")].sort()).toEqual([
    "aegis.edge.enroll",
    "aegis.edge.fleet.manage",
    "aegis.edge.fleet.read",
    "aegis.edge.groups.write",
    "aegis.edge.hosts.read",
    "aegis.edge.hosts.write",
  ]);
});

test("under restrict a claim narrows, unless it names nothing known", () => {
  expect([...effectiveScopes(consumer, ["agent:list", "openid", "secret:read"], "restrict")]).toEqual(["agent:list"]);
  expect(effectiveScopes(consumer, ["openid", "email"], "restrict")).toEqual(scopesOfColumn("C"));
});

test("what a scope implies comes with it, secrets excepted", () => {
  const held = effectiveScopes(
    consumer,
    ["volume:write", "aegis.edge.fleet.manage", "svc.edge.hosts.write"],
    "restrict",
  );
  expect(held.has("volume:read")).toBe(true);
  expect(held.has("aegis.edge.fleet.read")).toBe(true);
  expect(held.has("aegis.edge.hosts.read")).toBe(true);
  const service = { kind: "service_account", role: null, membership: null } as const;
  expect([...effectiveScopes(service, ["secret:write"], "restrict")]).toEqual(["secret:write"]);
});
