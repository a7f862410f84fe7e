/** The decision on the start of a run: what settles it, what refuses it, and in which order. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { invalidAt, Problem } from "../../../../../actors/kernel/problem.ts";
import { usualTerms } from "../../../../../actors/policy/quota.ts";
import { storageQuota } from "../../../../../actors/policy/storage-quota.ts";
import type { Definition } from "../../../../../actors/workflow/definition.ts";
import { maxDescendants, planRun, type RunFacts } from "../../../../../actors/workflow/run/start/plan-run.ts";
import type { RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import { definitionOf, human } from "../../fixture.ts";

const id = "0190f3c4-0000-7000-8000-000000000001";
const parent: NonNullable<RunRequest["parent"]> = {
  executionId: "p",
  stateName: "IN",
  waits: true,
  depth: 1,
  path: ["r"],
  rootExecutionId: "r",
  attachments: [],
};
const workspace = {
  storage_class: "ephemeral",
  ttl_ms: 1,
  size_limit_bytes: 1,
  volume_id: null,
  blackboard_key: "where",
} as const;
const shared = { name: "data", storage_class: "persistent", size_limit_bytes: null } as const;

interface Change {
  readonly request?: Partial<RunRequest>;
  readonly facts?: Partial<RunFacts>;
  readonly storage?: Partial<Definition["storage"]>;
}

function decide({ request, facts, storage }: Change) {
  const asked: RunRequest = {
    tenant: "acme",
    ref: "asks",
    version: null,
    input: {},
    blackboard: null,
    intent: "",
    attachments: [],
    timeoutSeconds: null,
    securityContext: null,
    starter: null,
    initiatedBy: { kind: "webhook", sub: "x", email: null },
    parent: null,
    stimulusId: null,
    rateExempt: false,
    ...request,
  };
  const definition = definitionOf({ ASK: human([]) });
  const declared = { workspace: null, shared_volumes: [], ...storage };
  return planRun(asked, {
    executionId: id,
    terms: usualTerms(asked.tenant),
    workflow: {
      workflow_id: "w",
      name: "asks",
      version: "1.2.0",
      owner: "acme",
      definition: { ...definition, storage: declared },
    },
    descendants: 0,
    input: { value: asked.input },
    attachments: [],
    storage: { readable: new Map(), usedBytes: 0 },
    isContextAllowed: true,
    ...facts,
  });
}
function planned(change: Change) {
  const decision = decide(change);
  if (decision instanceof Problem) throw decision;
  return decision;
}
const codeOf = (change: Change): string | null => {
  const decision = decide(change);
  return decision instanceof Problem ? decision.code : null;
};

describe("the place of a run", () => {
  test("a root is its own root; a child stands below its parent", () => {
    expect(planned({}).header).toMatchObject({ parent: null, depth: 0, root_execution_id: id, path: [] });
    expect(planned({ request: { parent } }).header).toMatchObject({
      parent: { execution_id: "p", state_name: "IN", waits: true },
      depth: 2,
      root_execution_id: "r",
      path: ["r", "p"],
    });
  });

  test("a child's context was checked with its parent's start", () => {
    const request = { securityContext: "svc-consumer-pro" };
    const facts = { isContextAllowed: false };
    expect(codeOf({ request, facts })).toBe("security_context_forbidden");
    expect(codeOf({ request: { ...request, parent }, facts })).toBeNull();
  });
});

describe("volumes", () => {
  const volume = { volume_id: "ab", size_limit_bytes: 9 };
  const readable = new Map([["ab", volume]]);

  test("a volume that the blackboard names under any key replaces the declared one", () => {
    const storage = { workspace, shared_volumes: [shared] };
    const facts = { storage: { readable, usedBytes: 0 } };
    const used = (blackboard: Record<string, string>) =>
      planned({ storage, facts, request: { blackboard } }).volumes.map(({ existing }) => existing?.volume_id ?? null);
    expect(used({})).toEqual([null, null]);
    expect(used({ where: "AB" })).toEqual(["ab", null]);
    expect(used({ workspace_volume_id: "AB", data_volume_id: "ab" })).toEqual(["ab", "ab"]);
  });

  test("one that the start names and cannot be used is refused, not replaced", () => {
    const storage = { workspace, shared_volumes: [shared] };
    const facts = { storage: { readable, usedBytes: 0 } };
    const refused = (blackboard: Record<string, Json>) => decide({ storage, facts, request: { blackboard } });
    const issue = (path: string) => ({ path: `blackboard.${path}`, code: "volume_not_found" });
    for (const value of ["unreadable", "", 7, false, {}]) {
      expect(refused({ workspace_volume_id: value, where: "ab", data_volume_id: value })).toMatchObject({
        code: "invalid_volume",
        extras: { issues: [issue("data_volume_id"), issue("workspace_volume_id")] },
      });
    }
    expect(codeOf({ storage, facts, request: { blackboard: { where: null, data_volume_id: "ab" } } })).toBeNull();
    expect(codeOf({ facts, request: { blackboard: { workspace_volume_id: "unreadable" } } })).toBeNull();
  });

  test("one that the manifest names must be readable, unless the start names another", () => {
    const storage = { workspace: { ...workspace, volume_id: "CD" } };
    const facts = { storage: { readable, usedBytes: 0 } };
    expect(decide({ storage, facts })).toMatchObject({
      code: "invalid_volume",
      extras: { issues: [{ path: "spec.storage.workspace.volume_id", code: "volume_not_found" }] },
    });
    expect(codeOf({ storage, facts, request: { blackboard: { where: "ab" } } })).toBeNull();
  });

  test("no granted run makes a volume above the tenant's limit, or any in a full tenant", () => {
    const { tenantBytes } = storageQuota(usualTerms("acme"));
    const change = fc.record({
      limit: fc.constantFrom(null, 1, tenantBytes, tenantBytes + 1),
      own: fc.constantFrom(1, tenantBytes + 1),
      used: fc.constantFrom(0, tenantBytes - 1, tenantBytes),
      named: fc.constantFrom<Record<string, string>[]>({}, { where: "ab" }, { data_volume_id: "ab" }),
    });
    fc.assert(
      fc.property(change, ({ limit, own, used, named }) => {
        const decision = decide({
          storage: {
            workspace: { ...workspace, size_limit_bytes: own },
            shared_volumes: [{ ...shared, size_limit_bytes: limit }],
          },
          request: { blackboard: named },
          facts: { storage: { readable, usedBytes: used } },
        });
        if (decision instanceof Problem) return;
        expect(used).toBeLessThan(tenantBytes);
        for (const { existing, size_limit_bytes } of decision.volumes) {
          if (existing === null) expect(size_limit_bytes).toBeLessThanOrEqual(tenantBytes);
        }
      }),
    );
  });
});

test("the first failed check answers, in the order that callers rely on", () => {
  const failures: readonly [code: string, change: Change][] = [
    ["too_many_descendants", { facts: { descendants: maxDescendants } }],
    ["invalid_input", { facts: { input: invalidAt("invalid_input", "input", "is bad") } }],
    ["reserved_blackboard_key", { request: { blackboard: { input: 1 } } }],
    ["invalid_attachment", { facts: { attachments: invalidAt("invalid_attachment", "attachments", "are bad") } }],
    [
      "security_context_forbidden",
      { request: { securityContext: "svc-system-operator" }, facts: { isContextAllowed: false } },
    ],
    ["invalid_volume", { storage: { workspace: { ...workspace, size_limit_bytes: 2 ** 60 } } }],
    ["quota_exceeded", { storage: { workspace }, facts: { storage: { readable: new Map(), usedBytes: 2 ** 60 } } }],
  ];
  for (const [index, [code]] of failures.entries()) {
    // The earlier of two settings at one place counts.
    const all = failures.slice(index).reduceRight<Change>(
      (later, [, change]) => ({
        request: { ...later.request, ...change.request },
        facts: { ...later.facts, ...change.facts },
        storage: { ...later.storage, ...change.storage },
      }),
      {},
    );
    expect(codeOf(all)).toBe(code);
  }
  expect(codeOf({ request: { parent: { ...parent, depth: 3 } } })).toBe("depth_exceeded");
});

test("a version is pinned by a start that names it, never by a schedule", () => {
  const pinned = (request: Partial<RunRequest>) => {
    const plan = decide({ request });
    return plan instanceof Problem ? plan : (plan.header.pinned ?? false);
  };
  expect([pinned({}), pinned({ ref: id }), pinned({ version: "1.2.0" })]).toEqual([false, true, true]);
  expect(pinned({ ref: id, scheduleId: id })).toBe(false);
});
