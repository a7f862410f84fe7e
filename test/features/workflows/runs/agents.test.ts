/** The activity `workflow.agent`: what it starts, what it repeats, what it gives up and takes back. */

import { beforeEach, describe, expect, test } from "bun:test";
import { judgeInput } from "../../../../actors/execution/judging/judge-verdict.ts";
import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { AgentStart } from "../../../../actors/workflow/run/activities.ts";
import type { JudgedFacts } from "../../../../src/features/executions/judging/judged.ts";
import { agentStartActivity } from "../../../../src/features/workflows/runs/start/agents.ts";
import { type ActivityContext, type Address, Terminal } from "../../../../src/runtime/port.ts";
import { StoreAway } from "../../../../src/store/away.ts";
import { headerOf } from "../../../actors/workflow/fixture.ts";
import { fakeRuntime } from "../../../harness/runtime/fake-runtime.ts";

const run: Address = { kind: "workflow_run", key: "0190f3c4-0000-7000-8000-000000000001", tenant: "north" };
const child = "0190f3c4-0000-7000-8000-000000000002";
const work: AgentStart = {
  child_execution_id: child,
  agent: "writer",
  trigger: "workflow",
  input: "write",
  intent: null,
  timeout_ms: null,
  start_by: 1000,
  overrides: { isolation: null, temperature: null, mounts: [], security_context: null, attachments: [] },
  judged: null,
};

let now = 0;
let header: Json | null = null;
let starts: [string, StartRequest][] = [];
let cancelled: Address[] = [];
let answer: () => Promise<{ agent_id: string }>;
let facts: JudgedFacts | null = null;
beforeEach(() => {
  now = 0;
  header = headerOf({ depth: 1, path: ["r"] }) as unknown as Json;
  starts = [];
  cancelled = [];
  facts = null;
  answer = async () => ({ agent_id: "a-1" });
});

const activity = agentStartActivity({
  runtime: fakeRuntime({
    state: ({ tenant }) => (header === null || tenant !== run.tenant ? null : { header }),
    ask: async (to, type) => {
      if (type === "cancel") cancelled.push(to);
    },
  }),
  start: async (id, request) => {
    starts.push([id, request]);
    return answer();
  },
  judged: async () => facts,
  now: () => now,
});

function attempt(change: Partial<AgentStart> = {}, signal = new AbortController().signal) {
  const context = { id: `agent:${child}`, actor: run, attempt: 1, resumed: false, signal } as ActivityContext;
  return activity.run({ ...work, ...change } as unknown as Json, context).then(
    (value) => ({ value }),
    (error: unknown) => ({ error, terminal: error instanceof Terminal ? error.code : null }),
  );
}
const refuse = (code: "rate_limited" | "quota_exceeded" | "agent_not_found" | "depth_exceeded", status?: number) => {
  answer = async () => {
    throw new Problem(code, code, {}, {}, status);
  };
};

describe("the start", () => {
  test("stands below the run, under its tenant, with what the state lays over", async () => {
    expect(await attempt({ timeout_ms: 1500, intent: "soon" })).toEqual({ value: { agent_id: "a-1" } });
    expect(starts).toEqual([
      [
        child,
        {
          agentName: "writer",
          tenant: "north",
          origin: {
            trigger: "workflow",
            workflow: { name: "sample", executionId: run.key },
            parent: { executionId: run.key, depth: 1, path: ["r"], swarmId: null },
            initiatingUserSub: "ada",
            initiatingRealm: null,
            exempt: false,
          },
          starter: null,
          startedBy: null,
          ceilings: [],
          countedFor: null,
          input: "write",
          intent: "soon",
          timeoutSeconds: 2,
          overrides: work.overrides,
          judgedMounts: [],
        },
      ],
    ]);
  });

  test("by UUID; judges and handlers are exempt; an agent's run has no login", async () => {
    header = headerOf({ initiated_by: { kind: "agent", sub: "x", email: null } }) as unknown as Json;
    await attempt({ agent: child.toUpperCase(), trigger: "validator" });
    expect(starts[0]?.[1]).toMatchObject({ agentId: child, origin: { exempt: true, initiatingUserSub: null } });
  });

  test("in the tier of the consumer who started the run", async () => {
    header = headerOf({ tier: "pro", initiated_by: { kind: "consumer", sub: "eve", email: null } }) as unknown as Json;
    await attempt();
    expect(starts[0]?.[1].starter).toMatchObject({ kind: "consumer", tier: "pro", userId: "eve", role: null });
  });

  test("a run that was removed starts nothing", async () => {
    header = null;
    expect(await attempt()).toMatchObject({ terminal: "workflow_execution_not_found" });
    expect(starts).toEqual([]);
  });
});

describe("judges", () => {
  const usual = judgeInput({
    task: "write",
    output: "a poem",
    criteria: "rhyme",
    iteration: 2,
    context: "semantic_judge",
    calls: [],
    violations: [],
    mounts: [],
  });
  const mount = { ...volume("/workspace"), volume_id: "w" };
  function volume(mount_path: string) {
    const facts = { storage_class: "ephemeral", access_mode: "read-write", size_limit_bytes: 1, ttl_ms: 1 } as const;
    return { name: "n", volume_id: "v", mount_path, ...facts };
  }
  const known: JudgedFacts = {
    task: "Do as told.\n\nInput: write",
    calls: [{ tool_name: "fs.list", arguments_json: "{}", status: "succeeded", result_json: null, error: null }],
    violations: ["fs.write"],
    mounts: [mount],
  };

  test("their usual input is completed from the judged execution, whose volumes they see", async () => {
    facts = known;
    await attempt({ trigger: "validator", input: usual, judged: { execution_id: "e", mounts: [], usual: true } });
    expect(starts[0]?.[1]).toMatchObject({
      input: {
        task: "Do as told.\n\nInput: write",
        output: "a poem",
        criteria: "rhyme",
        iteration_number: 2,
        validation_context: "semantic_judge",
        tool_audit_history: [{ tool_name: "fs.list" }],
        policy_violations: ["fs.write"],
        worker_mounts: [{ mount_path: "/workspace" }],
      },
      judgedMounts: [mount],
    });
  });

  test("an input of the author's own stays as it is", async () => {
    facts = known;
    await attempt({
      trigger: "validator",
      input: { mine: 1 },
      judged: { execution_id: "e", mounts: [], usual: false },
    });
    expect(starts[0]?.[1]).toMatchObject({ input: { mine: 1 }, judgedMounts: [mount] });
  });

  test("without one execution to judge, or when it is gone, they see the run's volumes", async () => {
    facts = known;
    const given = { mounts: [volume("/workspace/d")], usual: true };
    await attempt({ trigger: "validator", input: usual, judged: { execution_id: null, ...given } });
    facts = null;
    await attempt({ trigger: "validator", input: usual, judged: { execution_id: "e", ...given } });
    for (const [, request] of starts) expect(request).toMatchObject({ input: usual, judgedMounts: given.mounts });
  });
});

describe("refusals", () => {
  test.each([
    ["rate_limited", 429],
    ["quota_exceeded", 429],
  ] as const)("%s is tried again until start_by, then final", async (code, status) => {
    refuse(code, status);
    for (now = 0; now < 1000; now += 100) expect(await attempt()).toMatchObject({ terminal: null });
    expect(await attempt()).toMatchObject({ terminal: code });
  });

  test.each(["agent_not_found", "depth_exceeded"] as const)("%s is final at once", async (code) => {
    refuse(code);
    expect(await attempt()).toMatchObject({ terminal: code });
  });

  test("faults of the service have three attempts; refusals for room do not count", async () => {
    const fault = async () => {
      answer = async () => {
        throw new Error("no database");
      };
      return attempt();
    };
    expect(await fault()).toMatchObject({ terminal: null });
    refuse("quota_exceeded", 429);
    expect(await attempt()).toMatchObject({ terminal: null });
    expect(await fault()).toMatchObject({ terminal: null });
    expect(await fault()).toMatchObject({ terminal: "attempts_exhausted" });
    // Another time is another count.
    expect(await fault()).toMatchObject({ terminal: null });
    answer = async () => ({ agent_id: "a-1" });
    expect(await attempt()).toMatchObject({ value: { agent_id: "a-1" } });
  });

  test("a store that is away is waited for, however long", async () => {
    const errors = [new StoreAway("PostgreSQL", "it does not answer"), new Problem("service_unavailable", "Not now")];
    for (now = 0; now < 10_000; now += 1000) {
      const error = errors[(now / 1000) % 2];
      answer = () => Promise.reject(error);
      expect(await attempt()).toEqual({ error, terminal: null });
    }
  });
});

describe("a start that is no longer wanted", () => {
  const expected = [{ kind: "execution", key: child, tenant: "north" }];

  test("is cancelled when it went through meanwhile, and when that is unknown", async () => {
    for (const ending of ["through", "unknown"]) {
      cancelled = [];
      const controller = new AbortController();
      answer = async () => {
        controller.abort("abandoned");
        if (ending === "unknown") throw new Error("no answer");
        return { agent_id: "a-1" };
      };
      await attempt({}, controller.signal);
      expect(cancelled).toEqual(expected);
    }
  });

  test("is not begun again after a crash", async () => {
    await attempt({}, AbortSignal.abort("abandoned"));
    expect(starts).toEqual([]);
    expect(cancelled).toEqual(expected);
  });

  test("goes on elsewhere when only this node leaves", async () => {
    const controller = new AbortController();
    answer = async () => {
      controller.abort("draining");
      return { agent_id: "a-1" };
    };
    await attempt({}, controller.signal);
    expect(cancelled).toEqual([]);
  });
});
