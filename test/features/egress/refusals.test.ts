import { expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { policyOf } from "../../../actors/policy/network/policy.ts";
import { EgressRefused } from "../../../src/adapters/egress/destination.ts";
import type { Subject } from "../../../src/features/egress/admission.ts";
import { createRefusals } from "../../../src/features/egress/refusals.ts";
import type { Incident } from "../../../src/features/incidents/service.ts";
import { Masker } from "../../../src/lib/masking/masker.ts";
import { fakeRuntime } from "../../harness/runtime/fake-runtime.ts";

const subject: Subject = {
  executionId: "e",
  tenant: "t",
  instanceId: "i",
  of: "execution",
  agentId: "a",
  policy: policyOf(null),
};

function scene(tell: () => Promise<void> = async () => {}, maskerOf: () => Promise<Masker | null> = async () => null) {
  const told: Json[] = [];
  const incidents: Incident[] = [];
  const warnings: unknown[] = [];
  const refuse = createRefusals(
    fakeRuntime({
      tell: (at, type, body) => {
        told.push([at.key, at.tenant, type, body]);
        return tell();
      },
    }),
    { report: (incident) => incidents.push(incident) },
    maskerOf,
    (error) => warnings.push(error),
  );
  return { told, incidents, warnings, refuse };
}
const refusal = (host: string) => new EgressRefused("not_allowlisted", host, 443);

test("a refusal is told to the execution and is an incident", async () => {
  const { told, incidents, refuse } = scene();
  await refuse(subject, refusal("a.example"));
  const facts = { host: "a.example", port: 443, reason: "not_allowlisted" };
  expect(told).toEqual([["e", "t", "egress_blocked", { instance_id: "i", ...facts }]]);
  expect(incidents).toMatchObject([
    { category: "egress_blocked", tenant: "t", executionId: "e", agentId: "a", details: facts },
  ]);
});

test("a host that is a value the execution was given is in neither", async () => {
  const masker = new Masker();
  masker.hide(["db.corp.example"]);
  const away = () => Promise.reject(new Error("the store is away"));
  for (const maskerOf of [async () => masker, away]) {
    const { told, incidents, refuse } = scene(async () => {}, maskerOf);
    await refuse(subject, refusal("db.corp.example"));
    expect([told.length, incidents.length]).toEqual([1, 1]);
    expect(JSON.stringify([told, incidents])).not.toContain("corp");
  }
});

test("a command's refusal is an incident of its run, and no event", async () => {
  const { told, incidents, refuse } = scene();
  await refuse({ ...subject, agentId: null }, refusal("a.example"));
  expect(told).toEqual([]);
  expect(incidents).toMatchObject([{ category: "egress_blocked", executionId: "e", agentId: null }]);
});

test("equal refusals are told once, different ones up to a hundred; all are counted", async () => {
  const { told, incidents, refuse } = scene();
  for (let at = 0; at < 50; at++) await refuse(subject, refusal("a.example"));
  expect([told.length, incidents.length]).toEqual([1, 50]);
  for (let at = 0; at < 200; at++) await refuse(subject, refusal(`${at}.example`));
  expect([told.length, incidents.length]).toEqual([100, 250]);
  await refuse({ ...subject, instanceId: "j" }, refusal("a.example"));
  expect(told).toHaveLength(101);
});

test("a full mailbox delays callers only briefly", async () => {
  const failing = scene(() => Promise.reject(new Error("full")));
  await failing.refuse(subject, refusal("a.example"));
  expect(failing.warnings).toHaveLength(1);
  await scene(() => new Promise(() => {})).refuse(subject, refusal("a.example"));
});
