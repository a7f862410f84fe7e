/** What an instance is launched with, from the plan of its execution. */

import { describe, expect, test } from "bun:test";
import type { Header, Plan } from "../../../../actors/execution/start/plan.ts";
import type { SandboxDescription } from "../../../../src/adapters/sandbox/port.ts";
import { instanceSpec, type LaunchParts, pullMessage } from "../../../../src/features/executions/iteration/launch.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { sampleHeader, samplePlan } from "../../../actors/execution/fixture.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";

const docker: SandboxDescription = {
  isolation: "docker",
  sandbox: "container",
  egressEnforced: true,
  unenforcedLimits: [],
};
const mounts = [{ source: "/data/w", target: "/workspace", readOnly: false }];

async function specOf(
  given: { header?: Partial<Header>; plan?: Partial<Plan>; parts?: Partial<LaunchParts> } = {},
  description: SandboxDescription = docker,
) {
  const header = sampleHeader(given.header);
  const plan = samplePlan(given.plan);
  const parts: LaunchParts = {
    runtime: fakeRuntime({}),
    plans: { of: async () => plan },
    gatewayUrl: "http://127.0.0.1:8081",
    tokenSeconds: 600,
    mintToken: async ({ instanceId }) => `gateway of ${instanceId}`,
    mintEgressToken: async ({ instanceId }) => `egress of ${instanceId}`,
    instanceMounts: async () => mounts,
    references: { environmentOf: async (_, { env }) => env, registryLoginOf: async () => null },
    hostPaths: { allowed: [], own: [] },
    contextText: async () => "",
    ...given.parts,
  };
  const work = { execution_id: "e", iteration: 1, attempt: 1, instance_id: "i", replaces: null };
  const actor = { kind: "execution", key: "e", tenant: "acme" };
  // Only the address and the header are looked at.
  const context = { actor } as ActivityContext;
  return instanceSpec(parts, work, context, header, description);
}

describe("egress", () => {
  const listed = { mode: "allow", allowlist: ["api.example"], denylist: [] } as const;
  const none = { mode: "none", allowlist: [], denylist: [] } as const;
  test.each([
    ["a policy", listed, docker, true],
    ["no network section: refused there, and said so", null, docker, true],
    ["mode none: likewise", none, docker, true],
    ["a sandbox that cannot hold it", null, { ...docker, sandbox: "none", egressEnforced: false } as const, false],
  ])("%s", async (_, network, description, credentials) => {
    const { egress, environment } = await specOf({ plan: { network } }, description);
    expect(egress).toEqual(credentials ? { username: "svc", password: "egress of i" } : null);
    expect(JSON.stringify(environment)).not.toContain("egress of i");
  });
});

test("the image goes with its pull policy to containers, and nowhere else", async () => {
  const given = {
    header: {
      runtime: { isolation: "docker", image: "docker.io/library/python:3.12", sandbox: null, egress_enforced: null },
    },
    plan: { image_pull_policy: "Never" as const },
  };
  expect((await specOf(given)).image).toEqual({ reference: "docker.io/library/python:3.12", pullPolicy: "Never" });
  expect((await specOf(given, { ...docker, isolation: "process", sandbox: "bubblewrap" })).image).toBe(null);
  expect((await specOf()).image).toBe(null);
});

test("a login for a registry goes with the image, and is taken for no other sandbox", async () => {
  const login = { holder: "acme x", username: new Secret("ann"), password: new Secret("a-word") };
  let taken = 0;
  const registryLoginOf = async () => {
    taken += 1;
    return login;
  };
  const runtime = { isolation: "docker", image: "ghcr.io/acme/x:1", sandbox: null, egress_enforced: null };
  const given = {
    header: { runtime },
    plan: { registry_credentials: "secret:ghcr" },
    parts: { references: { environmentOf: async () => ({}), registryLoginOf } },
  };
  const spec = await specOf(given);
  expect(spec.image?.login).toBe(login);
  expect(JSON.stringify(spec)).not.toContain("a-word");
  expect((await specOf(given, { ...docker, isolation: "process", sandbox: "bubblewrap" })).image).toBe(null);
  expect(taken).toBe(1);
});

test("a pool is bound to tenant, agent and revision; without a size there is none", async () => {
  const keys = new Set<string>();
  for (const header of [{}, { agent_id: "other" }, { agent_version: "2" }, { agent_revision: 2 }]) {
    const { pool } = await specOf({ header, plan: { warm_pool_size: 2 } });
    expect(pool?.size).toBe(2);
    keys.add(pool?.key ?? "");
  }
  expect(keys.size).toBe(4);
  expect((await specOf()).pool).toBe(null);
});

test("mounts, startup script, bootstrap_path, read-only root and context arrive", async () => {
  const spec = await specOf({
    plan: {
      startup_script: "true",
      bootstrap_path: "/opt/agent",
      filesystem: { read: [], write: [], read_only: true },
      prompt_template: "{{instruction}}|{{context}}",
    },
    parts: { contextText: async () => "loaded" },
  });
  expect(spec).toMatchObject({ mounts, startupScript: "true", bootstrapPath: "/opt/agent", readOnlyRoot: true });
  expect(spec.prompt).toBe("Sort each parcel note into a lane.|loaded");
});

test("the manifest's names never replace ours", async () => {
  const env = { SVC_TENANT_ID: "evil", AEGIS_EXECUTION_TOKEN: "evil", COLOUR: "blue" };
  const { environment } = await specOf({ plan: { env } });
  expect(environment).toMatchObject({
    SVC_TENANT_ID: "acme",
    AEGIS_EXECUTION_TOKEN: "gateway of i",
    SVC_ORCHESTRATOR_URL: "http://127.0.0.1:8081/x/gateway of i",
    COLOUR: "blue",
  });
});

test("news of a launch are told in the actor's words", () => {
  expect(pullMessage({ stage: "image_pull_completed", image: "x", durationMs: 12.4 })).toEqual({
    stage: "image_pull_completed",
    image: "x",
    duration_ms: 12,
  });
});
