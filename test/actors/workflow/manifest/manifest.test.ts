/** What good manifests become: every default, every spelling (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Definition } from "../../../../actors/workflow/definition.ts";
import { parseWorkflow } from "../../../../actors/workflow/manifest/parse.ts";
import { referencesOf } from "../../../../actors/workflow/manifest/references.ts";
import { around, definitionOf, type Kind, reading, stateOf, states, withMember } from "./fixture.ts";
import { furtherResolved } from "./further-states.ts";
import { resolved } from "./resolved.ts";

const example = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: invoice-release
  version: "1.2.0"
  input_schema: {type: object, required: [invoice], properties: {invoice: {type: string}}}
  output_schema: {type: object, properties: {length: {type: integer}, by: {type: string}}}
  output_template: {length: "{{COUNT.stdout}}", by: "{{human.approver}}"}
spec:
  initial_state: COUNT
  storage: {workspace: {size_limit_mb: 64}}
  states:
    COUNT:
      kind: System
      command: "printf %s {{input.invoice}} | wc -c"
      transitions: [{condition: exit_code_zero, target: SIGN}]
    SIGN:
      kind: Human
      prompt: "Release {{input.invoice}} ({{trim COUNT.stdout}} characters)?"
      timeout: 2h
      forbid_initiator: true
      transitions:
        - {condition: approved, target: DONE}
        - {condition: rejected, target: REFUSED, feedback: "{{human.feedback}}"}
    DONE: {kind: System, command: noop, transitions: []}
    REFUSED: {kind: System, command: noop, outcome: failed, transitions: []}
`;

const system = {
  kind: "System",
  timeout_ms: 600_000,
  command: { form: "text", text: "noop" },
  env: {},
  workdir: "/workspace",
  image: null,
  network_mode: "none",
  resources: { cpu_millicores: 500, memory_bytes: 256 * 2 ** 20 },
  transitions: [],
  max_state_visits: 5,
  outcome: "completed",
};

const expected = {
  name: "invoice-release",
  version: "1.2.0",
  input_schema: { type: "object", required: ["invoice"], properties: { invoice: { type: "string" } } },
  output_schema: { type: "object", properties: { length: { type: "integer" }, by: { type: "string" } } },
  output_template: { length: "{{COUNT.stdout}}", by: "{{human.approver}}" },
  context: {},
  initial_state: "COUNT",
  max_total_transitions: 50,
  strict_templates: false,
  storage: {
    workspace: {
      storage_class: "ephemeral",
      ttl_ms: 3_600_000,
      size_limit_bytes: 64 * 2 ** 20,
      volume_id: null,
      blackboard_key: "workspace_volume_id",
    },
    shared_volumes: [],
  },
  states: {
    COUNT: {
      ...system,
      command: { form: "text", text: "printf %s {{input.invoice}} | wc -c" },
      transitions: [{ condition: "exit_code_zero", rule: { on: "exit_code_zero" }, target: "SIGN", feedback: null }],
    },
    SIGN: {
      kind: "Human",
      timeout_ms: 7_200_000,
      prompt: "Release {{input.invoice}} ({{trim COUNT.stdout}} characters)?",
      default_response: null,
      reject_on_timeout: false,
      approvers: [],
      required_role: null,
      quorum: 1,
      forbid_initiator: true,
      allow_agents: false,
      notify: [],
      remind_after_ms: null,
      escalate: null,
      transitions: [
        { condition: "approved", rule: { on: "approved" }, target: "DONE", feedback: null },
        { condition: "rejected", rule: { on: "rejected" }, target: "REFUSED", feedback: "{{human.feedback}}" },
      ],
      max_state_visits: 5,
      outcome: "completed",
    },
    DONE: system,
    REFUSED: { ...system, outcome: "failed" },
  },
};

describe("an example with every kind of state", () => {
  const document = parseWorkflow(example).document as { readonly spec: { readonly states: Record<string, object> } };
  const asList = Object.entries(document.spec.states).map(([name, state]) => ({ name, ...state }));
  const forms: readonly (readonly [string, string])[] = [
    ["YAML", example],
    ["JSON", JSON.stringify(document)],
    ["the other apiVersion", example.replace("svc.dev/v1", "100monkeys.ai/v1")],
    ["a wrapper of JSON", JSON.stringify({ manifest: document })],
    ["a wrapper of YAML", JSON.stringify({ manifest_yaml: example })],
    ["a list of states", JSON.stringify(withMember(document as Json, "spec.states", asList as Json))],
  ];
  for (const [name, text] of forms) {
    test(`as ${name}`, () => {
      const { issues, warnings, judged } = reading(parseWorkflow(text).document);
      expect({ issues, warnings }).toEqual({ issues: [], warnings: [] });
      expect(judged.definition as unknown).toEqual(expected);
      expect(judged.metadata).toEqual({
        name: "invoice-release",
        version: "1.2.0",
        description: "",
        labels: {},
        annotations: {},
        tags: [],
        input_schema: expected.input_schema,
        output_schema: expected.output_schema,
        output_template: expected.output_template,
      });
    });
  }
});

describe("a state of every kind that says everything", () => {
  for (const kind of Object.keys(states) as Kind[]) {
    test(kind, () => {
      const definition = definitionOf(around(states[kind]) as Json);
      expect([...Value.Errors(Definition, definition)]).toEqual([]);
      expect(definition.states.A as object).toEqual({ ...resolved, ...furtherResolved }[kind]);
    });
  }
});

describe("defaults", () => {
  const end = { transitions: [] };
  const common = { transitions: [], max_state_visits: 5, outcome: "completed" };
  test("Agent", () => {
    expect<object>(stateOf({ kind: "Agent", agent: "a", input: "{{input}}", ...end })).toEqual({
      kind: "Agent",
      ...common,
      timeout_ms: null,
      agent: "a",
      input: "{{input}}",
      intent: null,
      isolation: "inherit",
      temperature: null,
      judges: [],
      judge_threshold: 0.8,
      max_iterations: 10,
      pre_execution_validator: null,
      volumes: [],
      output_handler: null,
    });
  });
  test("Human waits an hour", () => {
    expect(stateOf({ kind: "Human", prompt: "?", ...end })).toMatchObject({ timeout_ms: 3_600_000, quorum: 1 });
  });
  test("ParallelAgents", () => {
    const agents = [{ agent: "a", input: "x" }];
    expect<object>(stateOf({ kind: "ParallelAgents", agents, consensus: { strategy: "majority" }, ...end })).toEqual({
      kind: "ParallelAgents",
      ...common,
      timeout_ms: null,
      agents: [{ agent: "a", input: "x", weight: 1, timeout_ms: 600_000 }],
      consensus: {
        strategy: "majority",
        threshold: 0.7,
        agreement: null,
        n: null,
        min_judges_required: 1,
        agreement_factor: 0.7,
        self_confidence_factor: 0.3,
      },
      judges_for_parallel: [],
      output_handler: null,
    });
  });
  test("ContainerRun", () => {
    expect<object>(stateOf({ kind: "ContainerRun", name: "c", image: "alpine", command: ["ls"], ...end })).toEqual({
      kind: "ContainerRun",
      ...common,
      timeout_ms: 600_000,
      name: "c",
      image: "alpine",
      command: ["ls"],
      env: {},
      workdir: "/workspace",
      volumes: [],
      resources: { cpu_millicores: 1000, memory_bytes: 512 * 2 ** 20 },
      registry_credentials: null,
      shell: false,
      network_mode: "default",
      image_pull_policy: "IfNotPresent",
      retry: { max_attempts: 1, backoff_ms: null },
      read_only_root_filesystem: false,
      run_as_user: null,
      output_handler: null,
    });
  });
  test("Subworkflow", () => {
    expect<object>(stateOf({ kind: "Subworkflow", workflow_id: "w", mode: "fire_and_forget", ...end })).toEqual({
      kind: "Subworkflow",
      ...common,
      timeout_ms: null,
      workflow: "w",
      mode: "fire_and_forget",
      result_key: null,
      input: {},
    });
  });
  test("output handlers", () => {
    const agent = { kind: "Agent", agent: "a", input: "x", ...end };
    expect(stateOf({ ...agent, output_handler: { type: "agent", agent_id: "{{input.filer}}" } })).toMatchObject({
      output_handler: { agent: "{{input.filer}}", input_template: "{{output}}", timeout_ms: 300_000, required: false },
    });
    expect(stateOf({ ...agent, output_handler: { type: "webhook", url: "https://example.com" } })).toMatchObject({
      output_handler: {
        url: "https://example.com",
        method: "POST",
        headers: {},
        body_template: null,
        timeout_ms: 30_000,
        max_attempts: 3,
        required: false,
      },
    });
  });
  test("metadata and spec", () => {
    const document = { ...around({ kind: "Human", prompt: "?", ...end }), metadata: { name: "x" } } as Json;
    expect(definitionOf(withMember(document, "spec.storage", undefined))).toMatchObject({
      version: "1.0.0",
      input_schema: null,
      output_schema: null,
      output_template: null,
      storage: { workspace: null, shared_volumes: [] },
    });
  });
});

describe("timeouts", () => {
  const cases: readonly (readonly [Json, number])[] = [
    [1, 1000],
    ["300", 300_000],
    ["300s", 300_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["720h", 2_592_000_000],
  ];
  for (const [timeout, ms] of cases) {
    test(JSON.stringify(timeout), () => {
      expect(stateOf({ kind: "System", command: "ls", timeout, transitions: [] }).timeout_ms).toBe(ms);
    });
  }

  test("of a command: the state's, else that of its resources, else ten minutes", () => {
    const system = { kind: "System", command: "ls", transitions: [] };
    const resources = { timeout: "20s" };
    expect(stateOf({ ...system, resources }).timeout_ms).toBe(20_000);
    expect(stateOf({ ...system, resources, timeout: "5s" }).timeout_ms).toBe(5000);
  });

  test("the state's timeout covers all steps, else each its own; the slowest counts", () => {
    const step = (name: string, more: Json = {}) => ({ name, image: "a", command: ["x"], ...(more as object) }) as Json;
    const steps = [step("a"), step("b", { resources: { timeout: "20m" } })];
    const state = { kind: "ParallelContainerRun", completion: "all_succeed", steps, transitions: [] };
    const timeoutsOf = (read: ReturnType<typeof stateOf>) =>
      read.kind === "ParallelContainerRun" ? [read.timeout_ms, ...read.steps.map((one) => one.timeout_ms)] : [];
    expect(timeoutsOf(stateOf(state))).toEqual([1_200_000, 600_000, 1_200_000]);
    expect(timeoutsOf(stateOf({ ...state, timeout: 30 }))).toEqual([30_000, 30_000, 30_000]);
  });
});

describe("conditions", () => {
  const cases: readonly (readonly [Json, Json])[] = [
    [{}, { on: "always" }],
    [{ condition: "always" }, { on: "always" }],
    [{ condition: "on_success" }, { on: "on_success" }],
    [{ condition: "on_failure" }, { on: "on_failure" }],
    [{ condition: "on_timeout" }, { on: "on_timeout" }],
    [{ condition: "exit_code_zero" }, { on: "exit_code_zero" }],
    [{ condition: "exit_code_non_zero" }, { on: "exit_code_non_zero" }],
    [
      { condition: "exit_code", value: -1 },
      { on: "exit_code", value: -1 },
    ],
    [
      { condition: "exit_code", value: "137" },
      { on: "exit_code", value: 137 },
    ],
    [
      { condition: "score_above", threshold: 0.8 },
      { on: "score_above", threshold: 0.8 },
    ],
    [
      { condition: "score_below", threshold: 0 },
      { on: "score_below", threshold: 0 },
    ],
    [
      { condition: "score_between", min: 0.2, max: 0.2 },
      { on: "score_between", min: 0.2, max: 0.2 },
    ],
    [
      { condition: "confidence_above", threshold: 0.5 },
      { on: "confidence_above", threshold: 0.5 },
    ],
    [
      { condition: "score_and_confidence_above", threshold: 0.5 },
      { on: "score_and_confidence_above", threshold: 0.5 },
    ],
    [
      { condition: "consensus", threshold: 0.5 },
      { on: "consensus", threshold: 0.5, agreement: 0 },
    ],
    [
      { condition: "consensus", threshold: 0.5, agreement: 0.7 },
      { on: "consensus", threshold: 0.5, agreement: 0.7 },
    ],
    [{ condition: "all_approved" }, { on: "all_approved" }],
    [{ condition: "any_rejected" }, { on: "any_rejected" }],
    [
      { condition: "input_equals", value: "" },
      { on: "input_equals", value: "" },
    ],
    [{ condition: "approved" }, { on: "approved" }],
    [{ condition: "input_equals_yes" }, { on: "approved" }],
    [{ condition: "rejected" }, { on: "rejected" }],
    [{ condition: "input_equals_no" }, { on: "rejected" }],
    [
      { condition: "custom", expression: "a.b" },
      { on: "custom", expression: "a.b" },
    ],
    [
      { condition: "custom", expression: "gt A.n 3" },
      { on: "custom", expression: "gt A.n 3" },
    ],
    [
      { condition: "custom", expression: "A.n > 3 && !(b)" },
      { on: "custom", expression: "A.n > 3 && !(b)" },
    ],
  ];
  for (const [transition, rule] of cases) {
    test(JSON.stringify(transition), () => {
      const written = { ...(transition as object), target: "B" } as { condition?: string };
      const state = stateOf({ kind: "System", command: "noop", transitions: [written as Json] });
      expect(state.transitions as Json).toEqual([
        { condition: written.condition ?? "always", rule, target: "B", feedback: null },
      ]);
    });
  }
});

test("what a manifest names literally, with the place of each", () => {
  const all = Object.entries(states).map(([name, state]) => ({ name: `S_${name}`, ...state, transitions: [] }) as Json);
  let document = withMember(around(states.Human) as Json, "spec.states", all);
  document = withMember(document, "spec.initial_state", "S_Agent");
  document = withMember(document, "spec.storage.workspace.volume_id", "11111111-2222-4333-8444-55555555ABCD");
  const { issues, judged } = reading(document);
  expect(issues).toEqual([]);
  expect(judged.references).toEqual({
    agents: [
      { name: "writer", path: "spec.states.0.agent" },
      { name: "critic", path: "spec.states.0.judges.0.agent_id" },
      { name: "gate", path: "spec.states.0.pre_execution_validator.agent_id" },
      { name: "filer", path: "spec.states.0.output_handler.agent_id" },
      { name: "one", path: "spec.states.3.agents.0.agent" },
      { name: "11111111-2222-4333-8444-55555555abcd", path: "spec.states.3.judges_for_parallel.0.agent_id" },
      { name: "writer", path: "spec.states.9.branches.1.states.0.agent" },
    ],
    workflows: [{ name: "child", path: "spec.states.6.workflow_id" }],
    volumes: [{ id: "11111111-2222-4333-8444-55555555abcd", path: "spec.storage.workspace.volume_id" }],
  });
  const inMap = definitionOf(around(states.Subworkflow) as Json);
  expect(referencesOf(inMap).workflows).toEqual([{ name: "child", path: "spec.states.A.workflow_id" }]);
});
