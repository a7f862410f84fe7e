/** The security contexts that the service brings (docs/reference/security-contexts.md). */
import { expect, test } from "bun:test";
import { byName } from "../../../../actors/policy/security/evaluate.ts";
import { contextByIdentity, systemContext } from "../../../../actors/policy/security/system.ts";

const caller = (kind: "consumer" | "operator" | "service_account" | "tenant_user", facts = {}) => ({
  kind,
  role: null,
  ...facts,
});

test.each([
  ["svc-agent-runtime", null, "free", true],
  ["svc-agent-runtime", caller("consumer"), "free", true],
  ["svc-consumer-free", caller("consumer"), "free", true],
  ["svc-consumer-free", caller("consumer"), "enterprise", true],
  ["svc-consumer-pro", caller("consumer"), "free", false],
  ["svc-consumer-enterprise", caller("tenant_user"), "enterprise", true],
  ["svc-consumer-enterprise", caller("tenant_user"), "business", true],
  ["svc-consumer-free", caller("service_account"), "enterprise", false],
  ["svc-consumer-free", null, "enterprise", false],
  ["svc-system-operator", caller("service_account"), "system", true],
  ["svc-system-operator", caller("operator", { role: "operator" }), "system", true],
  ["svc-system-operator", caller("operator", { role: "readonly" }), "system", false],
  ["svc-system-operator", caller("consumer"), "enterprise", false],
  ["svc-system-operator", null, "enterprise", false],
  ["another", caller("operator", { role: "admin" }), "system", false],
] as const)("%s for %p in a tenant of tier %s: %p", (name, who, tier, usable) => {
  expect(systemContext(name)?.usableBy(who, tier) ?? false).toBe(usable);
});

test.each([
  ["svc-agent-runtime", "fs.read", true],
  ["svc-agent-runtime", "svc.agent.list", true],
  ["svc-agent-runtime", "svc.agent.delete", false],
  ["svc-agent-runtime", "aegis.system.info", false],
  ["svc-consumer-pro", "fs.read", false],
  ["svc-consumer-pro", "web.fetch", true],
  ["svc-consumer-pro", "svc.edge.run", false],
  ["svc-system-operator", "svc.system.info", true],
  ["another", "fs.read", false],
] as const)("%s over %s: %p", (name, tool, permitted) => {
  const spec = systemContext(name)?.spec ?? null;
  expect(byName(tool, [{ name, version: 1, spec }]) === null).toBe(permitted);
});

test("names are exact", () => {
  expect(
    ["svc-agent-runtime", "svc-agent-runtime ", "constructor", ""].map((name) => systemContext(name) !== null),
  ).toEqual([true, false, false, false]);
});

test.each([
  [caller("consumer"), "pro", "svc-consumer-pro"],
  [caller("consumer"), "free", "svc-consumer-free"],
  [caller("tenant_user"), "business", "svc-consumer-enterprise"],
  [caller("operator", { role: "admin" }), "system", "svc-system-operator"],
  [caller("operator", { role: "readonly" }), "system", "svc-consumer-free"],
  [caller("service_account"), "enterprise", "svc-system-operator"],
] as const)("%p in a tenant of tier %s by itself is held to %s", (who, tier, name) => {
  expect(contextByIdentity(who, tier)).toBe(name);
});
