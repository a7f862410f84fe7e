import { expect, test } from "bun:test";
import { contextPermits, isSecurityContext, mayUseContext } from "../../../actors/policy/security-context.ts";

const caller = (kind: "consumer" | "operator" | "service_account" | "tenant_user", facts = {}) => ({
  kind,
  role: null,
  tier: null,
  ...facts,
});

test.each([
  ["svc-agent-runtime", null, true],
  ["svc-agent-runtime", caller("consumer", { tier: "free" }), true],
  ["svc-consumer-free", caller("consumer", { tier: "free" }), true],
  ["svc-consumer-free", caller("consumer", { tier: "enterprise" }), true],
  ["svc-consumer-pro", caller("consumer", { tier: "free" }), false],
  ["svc-consumer-enterprise", caller("tenant_user"), true],
  ["svc-consumer-free", caller("service_account"), false],
  ["svc-consumer-free", null, false],
  ["svc-system-operator", caller("service_account"), true],
  ["svc-system-operator", caller("operator", { role: "operator" }), true],
  ["svc-system-operator", caller("operator", { role: "readonly" }), false],
  ["svc-system-operator", caller("consumer", { tier: "enterprise" }), false],
  ["svc-system-operator", null, false],
  ["another", caller("operator", { role: "admin" }), false],
] as const)("%s for %p: %p", (name, who, usable) => {
  expect(mayUseContext(name, who)).toBe(usable);
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
  expect(contextPermits(name, tool)).toBe(permitted);
});

test("names are exact", () => {
  expect(["svc-agent-runtime", "svc-agent-runtime ", "constructor", ""].map(isSecurityContext)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
