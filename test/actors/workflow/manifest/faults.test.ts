/** Every fault a manifest can be refused for, with the place and the code it is told by (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { WorkflowOffer } from "../../../../actors/workflow/manifest/judged.ts";
import { refusal } from "../../../../actors/workflow/manifest/judged.ts";
import { around, type Kind, reading, states, withMember } from "./fixture.ts";

type Over = Partial<WorkflowOffer>;
/** Without `at`, the issue is where the fault is; without `code` it is `invalid`. */
type Row = readonly [path: string, value: Json | undefined, code?: string, at?: string];

function expectOne(document: Json, path: string, code: string, over: Over = {}) {
  expect(reading(document, over).issues).toEqual([[path, code]]);
}

const long = (length: number) => "x".repeat(length);
const many = (count: number, of: (index: number) => Json): Json[] => Array.from({ length: count }, (_, at) => of(at));
const named = (count: number, of: (index: number) => [string, Json]): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)));

describe("the whole", () => {
  const good = around(states.System) as Json;
  const rows: readonly Row[] = [
    ["apiVersion", undefined],
    ["apiVersion", "svc.dev/v2", "unsupported_api_version"],
    ["apiVersion", 1],
    ["kind", undefined],
    ["kind", "Agent"],
    ["metadata", undefined],
    ["metadata", []],
    ["metadata.name", undefined],
    ["metadata.name", ""],
    ["metadata.name", "Upper"],
    ["metadata.name", "ends-"],
    ["metadata.name", long(64)],
    ["metadata.name", "11111111-2222-4333-8444-555555555555"],
    ["metadata.name", "executions"],
    ["metadata.name", "temporal"],
    ["metadata.name", "validate"],
    ["metadata.version", "1.0"],
    ["metadata.version", "v1.0.0"],
    ["metadata.version", 1],
    ["metadata.description", long(4097)],
    ["metadata.description", "nul \0"],
    ["metadata.labels", named(65, (n) => [`l${n}`, "x"])],
    ["metadata.labels.a", 1],
    ["metadata.annotations.a", long(4097)],
    ["metadata.tags", "one"],
    ["metadata.tags", [1], "invalid", "metadata.tags.0"],
    ["metadata.input_schema", { type: "strin" }, "invalid_schema"],
    ["metadata.input_schema", { $ref: "https://example.com/s" }, "invalid_schema"],
    ["metadata.input_schema", "string", "invalid_schema"],
    ["metadata.input_schema", { $schema: "http://json-schema.org/draft-04/schema#" }, "invalid_schema"],
    ["metadata.output_schema", { type: 1 }, "invalid_schema"],
    ["metadata.output_schema", { description: long(70_000) }, "invalid_schema"],
    ["metadata.output_template", "{{x}}"],
    ["metadata.output_template.a", 1],
    ["metadata.output_template.a", "{{#if}}", "invalid_template"],
    ["metadata.output_template.__proto__", "x"],
    ["spec", undefined],
    ["spec", "x"],
    ["spec.initial_state", undefined],
    ["spec.initial_state", "MISSING"],
    ["spec.initial_state", "constructor"],
    ["spec.context", []],
    ["spec.context", named(4097, (n) => [`k${n}`, n])],
    ["spec.max_total_transitions", 0],
    ["spec.max_total_transitions", 101],
    ["spec.max_total_transitions", 1.5],
    ["spec.storage", "x"],
    ["spec.storage.workspace", "x"],
    ["spec.storage.workspace.storage_class", "fast"],
    ["spec.storage.workspace.ttl_hours", 721],
    ["spec.storage.workspace.ttl_hours", 0],
    ["spec.storage.workspace.size_limit_mb", 0],
    ["spec.storage.workspace.volume_id", "x"],
    ["spec.storage.workspace.blackboard_key", "input"],
    ["spec.storage.workspace.blackboard_key", "B"],
    ["spec.storage.shared_volumes.1", { storage_class: "ephemeral" }, "invalid", "spec.storage.shared_volumes.1.name"],
    ["spec.storage.shared_volumes.1", { name: "cache" }, "invalid", "spec.storage.shared_volumes.1.name"],
    ["spec.storage.shared_volumes.1", { name: "workspace" }, "invalid", "spec.storage.shared_volumes.1.name"],
    ["spec.storage.shared_volumes.1", { name: "a/b" }, "invalid", "spec.storage.shared_volumes.1.name"],
    ["spec.storage.shared_volumes.0.size_limit_bytes", 0],
    ["spec.states.A", "x"],
    ["spec.states.A.kind", undefined],
    ["spec.states.A.kind", "system"],
    ["spec.states.A.kind", "Elsewhere"],
  ];
  for (const [path, value, code = "invalid", at = path] of rows) {
    test(`${path} = ${JSON.stringify(value)?.slice(0, 60)}`, () => {
      const { issues } = reading(withMember(good, path, value));
      expect(issues).toContainEqual([at, code]);
    });
  }

  for (const name of ["input", "intent", "tenant_id", "attachments", "workflow", "execution", "state", "human"]) {
    test(`no state is called ${name}`, () => {
      expectOne(withMember(good, `spec.states.${name}`, states.Human as Json), `spec.states.${name}`, "invalid");
    });
  }
  const odd = [
    "blackboard",
    "state_output",
    "instruction",
    "iteration_number",
    "previous_error",
    "context",
    "__proto__",
  ];
  for (const name of [...odd, "1A", "a b", "a.b", "", "ä", long(65)]) {
    test(`no state is called ${JSON.stringify(name).slice(0, 20)}`, () => {
      const { issues } = reading({
        ...(good as object),
        spec: { initial_state: "A", states: { A: states.Human, [name]: states.Human } },
      } as Json);
      expect(issues).toContainEqual([`spec.states.${name}`, "invalid"]);
    });
  }

  test("a document that is no object", () => {
    for (const document of [null, 1, "x", [], true] as Json[]) expectOne(document, "", "invalid");
  });

  test("states: none, too many, neither map nor list", () => {
    for (const value of [{}, [], null, "x", 3] as Json[]) {
      expect(reading(withMember(good, "spec.states", value)).issues).toContainEqual(["spec.states", "invalid"]);
    }
    const end = { kind: "System", command: "noop", transitions: [] };
    const hundred = withMember(good, "spec.states", {
      A: end,
      ...(named(99, (n) => [`S${n}`, end]) as object),
    } as Json);
    expect(reading(hundred).issues).toEqual([]);
    const more = withMember(hundred, "spec.states.ONE_MORE", end);
    expect(reading(more).issues).toContainEqual(["spec.states", "invalid"]);
  });

  test("a list of states: each has a name of its own", () => {
    const end = { kind: "System", command: "noop", transitions: [] };
    const list = (...all: Json[]) => withMember(withMember(good, "spec.states", all), "spec.initial_state", "A");
    expect(reading(list({ name: "A", ...end })).issues).toEqual([]);
    expectOne(list({ name: "A", ...end }, { name: "A", ...end }), "spec.states.1.name", "invalid");
    expectOne(list({ name: "A", ...end }, end), "spec.states.1.name", "invalid");
    expectOne(list({ name: "A", ...end }, { ...end, name: "input" }), "spec.states.1.name", "invalid");
    expectOne(list({ name: "A", ...end }, "x"), "spec.states.1", "invalid");
  });

  test("all of them are found at once", () => {
    let bad = withMember(good, "apiVersion", "v0");
    bad = withMember(bad, "metadata.name", "Bad Name");
    bad = withMember(bad, "spec.states.A.command", "{{#if}}");
    bad = withMember(bad, "spec.states.A.color", "red");
    bad = withMember(bad, "spec.states.B.transitions.0.target", "NOWHERE");
    expect(reading(bad).issues).toEqual([
      ["apiVersion", "unsupported_api_version"],
      ["metadata.name", "invalid"],
      ["spec.states.A.command", "invalid_template"],
      ["spec.states.A.color", "unknown_field"],
      ["spec.states.B.transitions.0.target", "invalid"],
    ]);
  });
});

describe("unknown keys", () => {
  const everywhere = around(states.System) as Json;
  for (const path of ["extra", "metadata.extra", "spec.extra", "spec.storage.extra", "spec.storage.workspace.extra"]) {
    test(`${path} is accepted with a warning`, () => {
      const { issues, warnings } = reading(withMember(everywhere, path, 1));
      expect(issues).toEqual([]);
      expect(warnings).toContainEqual([path, "unknown_field"]);
    });
  }
  test("of a transition as well", () => {
    const { issues, warnings } = reading(withMember(everywhere, "spec.states.A.transitions.0.extra", 1));
    expect(issues).toEqual([]);
    expect(warnings).toContainEqual(["spec.states.A.transitions.0.extra", "unknown_field"]);
  });

  const inside: readonly (readonly [Kind, string])[] = [
    ...(Object.keys(states) as Kind[]).map((kind) => [kind, "extra"] as const),
    ["Agent", "judges.0.extra"],
    ["Agent", "pre_execution_validator.extra"],
    ["Agent", "volumes.0.extra"],
    ["Agent", "output_handler.extra"],
    ["System", "resources.extra"],
    ["Human", "notify.0.extra"],
    ["Human", "escalate.extra"],
    ["ParallelAgents", "agents.0.extra"],
    ["ParallelAgents", "consensus.extra"],
    ["ParallelAgents", "consensus.confidence_weighting.extra"],
    ["ParallelAgents", "judges_for_parallel.0.extra"],
    ["ParallelAgents", "output_handler.extra"],
    ["ContainerRun", "retry.extra"],
    ["ParallelContainerRun", "steps.0.extra"],
    ["ParallelContainerRun", "steps.0.retry"],
    ["ParallelContainerRun", "steps.0.image_pull_policy"],
    ["ParallelContainerRun", "steps.0.run_as_user"],
    ["ParallelContainerRun", "steps.0.output_handler"],
    ["System", "image_pull_policy"],
    ["System", "prompt"],
    ["Human", "command"],
  ];
  for (const [kind, path] of inside) {
    test(`${kind} ${path} is refused by name`, () => {
      const { judged } = reading(withMember(around(states[kind]) as Json, `spec.states.A.${path}`, 1));
      const key = path.split(".").at(-1);
      expect(judged.issues).toEqual([
        {
          path: `spec.states.A.${path}`,
          code: "unknown_field",
          message: expect.stringMatching(new RegExp(`^${key} is not a field of (?:an?|the) `)),
        },
      ]);
    });
  }
});

describe("states", () => {
  const rows: Readonly<Record<Kind, readonly (Row | readonly [...Row, Over])[]>> = {
    Agent: [
      ["agent", undefined],
      ["agent", " "],
      ["agent", "Not A Name"],
      ["agent", "{{#each}}", "invalid_template"],
      ["agent", "{{> partial}}", "invalid_template"],
      ["input", undefined],
      ["input.deep.0.of", "{{nohelper x}}", "invalid_template"],
      ["intent", 1],
      ["isolation", "vm"],
      ["isolation", "firecracker", "unsupported_isolation"],
      ["temperature", 2.1],
      ["judges.0.agent_id", undefined],
      ["judges.0.agent_id", "{{x}}"],
      ["judges.0.input_template", "{{", "invalid_template"],
      ["judges.0.weight", 0],
      ["judges.0.weight", -1],
      ["judge_threshold", 1.1],
      ["max_iterations", 0],
      ["max_iterations", 21],
      ["pre_execution_validator", "gate"],
      ["pre_execution_validator.agent_id", undefined],
      ["volumes.0.name", undefined],
      ["volumes.0.name", "undeclared"],
      ["volumes.0.mount_path", undefined],
      ["volumes.0.mount_path", "relative"],
      ["volumes.0.mount_path", "/workspace/../etc"],
      ["volumes.0.mount_path", "/"],
      ["volumes.0.mount_path", "/proc/self"],
      ["volumes.0.mount_path", "/srv"],
      ["volumes.0.read_only", "yes"],
      ["volumes.1", { name: "workspace", mount_path: "/workspace/cache/" }, "invalid", "volumes.1.mount_path"],
      ["output_handler", "x"],
      ["output_handler.type", undefined],
      ["output_handler.type", "queue"],
      ["output_handler.type", "container", "unsupported_output_handler"],
      ["output_handler.type", "mcp_tool", "unsupported_output_handler"],
      ["output_handler.agent_id", undefined],
      ["output_handler.timeout_seconds", 0],
      ["timeout", "soon"],
      ["timeout", 0],
      ["timeout", "31h 1000m 99999999s"],
      ["timeout", 2_592_001],
      ["max_state_visits", 0],
      ["max_state_visits", 21],
      ["outcome", "failed"],
      ["transitions", undefined],
      ["transitions", {}],
      ["transitions", many(65, () => ({ target: "B" }))],
    ],
    System: [
      ["command", undefined],
      ["command", ""],
      ["command", " \n"],
      ["command", 7],
      ["command", []],
      ["command", ["", " "]],
      ["command", ["ok", 1], "invalid", "command.1"],
      ["command", ["ok", "{{"], "invalid_template", "command.1"],
      ["command", "echo `{{input.a}}`", "unsafe_template_position"],
      ["command", "echo $({{input.a}})", "unsafe_template_position"],
      ["command", "cat <<X\n{{input.a}}\nX\n", "unsafe_template_position"],
      ["command", ["sh", "-c", "echo `{{input.a}}`"], "unsafe_template_position"],
      ["env", []],
      ["env.A", 1],
      ["env.A", "{{", "invalid_template"],
      ["env.A-B", "x"],
      ["env.1A", "x"],
      ["env.SVC_X", "x", "reserved_env"],
      ["env.A", "secret:path#field", "unsupported_field"],
      ["env.A", "credential://github", "unsupported_field"],
      ["env", named(257, (n) => [`E${n}`, "x"])],
      ["workdir", "workspace"],
      ["workdir", "/etc"],
      ["workdir", "/workspace/../etc"],
      ["workdir", "/tmpx"],
      ["image", "not an image"],
      ["image", "quay.io/a/b:1", "image_not_allowed", undefined, { imageRegistries: ["docker.io"] }],
      ["network_mode", "host"],
      ["network_mode", "open"],
      ["resources", "x"],
      ["resources.cpu", 1],
      ["resources.memory", "lots"],
      ["resources.memory", "1Ki"],
      ["resources.timeout", "0s"],
    ],
    Human: [
      ["prompt", undefined],
      ["prompt", "  "],
      ["prompt", "{{", "invalid_template"],
      ["timeout", "2592001"],
      ["timeout_seconds", 60],
      ["timeout_seconds", 0],
      ["default_response", 1],
      ["approvers", "user:x"],
      ["approvers.0", "anna"],
      ["approvers.0", "user:"],
      ["approvers.0", "email:nobody"],
      ["approvers.0", "group:x"],
      ["required_role", ""],
      ["required_role", 5],
      ["quorum", 0],
      ["quorum", 21],
      ["quorum", 1.5],
      ["forbid_initiator", 1],
      ["notify.0.type", undefined],
      ["notify.0.type", "sms"],
      ["notify.0", { type: "email", to: ["a@b.c"] }, "unsupported_destination", "notify.0.type"],
      ["notify.0", { type: "email", to: [] }, "invalid", "notify.0.to", { email: true }],
      ["notify.0", { type: "email" }, "invalid", "notify.0.to", { email: true }],
      ["notify.0", { type: "email", to: ["nobody"] }, "invalid", "notify.0.to.0", { email: true }],
      ["notify.0.url", undefined],
      ["notify.0.url", "ftp://example.com"],
      ["notify.0.url", "https://user:pw@example.com/"],
      ["notify.0.secret", "secret:hook", "unsupported_field"],
      ["remind_after", "x"],
      ["escalate.after", undefined],
      ["escalate.after", "2h"],
      ["escalate.after", "3h"],
      ["escalate.approvers.0", "boss"],
    ],
    ParallelAgents: [
      ["agents", undefined],
      ["agents", []],
      ["agents", many(21, () => ({ agent: "a", input: "x" }))],
      ["agents.0", "one"],
      ["agents.0.agent", undefined],
      ["agents.0.input", undefined],
      ["agents.0.weight", 0],
      ["agents.0.timeout_seconds", 0],
      ["agents.0.poll_interval_ms", "fast"],
      ["consensus", undefined],
      ["consensus.strategy", undefined],
      ["consensus.strategy", "loudest"],
      ["consensus.threshold", 1.5],
      ["consensus.agreement", 0.4, "invalid", "consensus.min_agreement_confidence"],
      ["consensus.n", 0],
      ["consensus.n", 2],
      ["consensus.min_judges_required", 2],
      ["consensus.confidence_weighting.agreement_factor", 0.7, "invalid", "consensus.confidence_weighting"],
      ["consensus.confidence_weighting.agreement_factor", 1.2],
      ["output_handler.url", undefined],
      ["output_handler.url", "file:///etc/passwd"],
      ["output_handler.url", "gopher://{{input.host}}/"],
      ["output_handler.method", "GET"],
      ["output_handler.headers.X-Id", "secret:x", "unsupported_field"],
      ["output_handler.headers.X-Id", "{{", "invalid_template"],
      ["output_handler.headers.Host", "x"],
      ["output_handler.body_template", "{{", "invalid_template"],
    ],
    ContainerRun: [
      ["name", undefined],
      ["name", " "],
      ["image", undefined],
      ["image", ""],
      ["image", "a/UPPER"],
      ["command", undefined],
      ["command", []],
      ["command", "cargo build"],
      ["command", [" "]],
      ["image_pull_policy", "Sometimes"],
      ["workdir", "src"],
      ["volumes.0.name", "other"],
      ["registry_credentials", "11111111-2222-4333-8444-555555555555", "unsupported_field"],
      ["retry.max_attempts", 11],
      ["retry.backoff", "x"],
      ["shell", "yes"],
      ["run_as_user", 0],
      ["run_as_user", -1],
      ["network_mode", "host"],
    ],
    ParallelContainerRun: [
      ["steps", undefined],
      ["steps", []],
      ["steps", many(21, (n) => ({ name: `s${n}`, image: "a", command: ["x"] }))],
      ["steps.0.name", undefined],
      ["steps.1.name", "lint"],
      ["steps.0.image", undefined],
      ["steps.0.command", []],
      ["steps.1.command", ["echo `", "{{input.a}}", "`"], "unsafe_template_position"],
      ["steps.0.registry_credentials", "x", "unsupported_field"],
      ["completion", undefined],
      ["completion", "most_succeed"],
    ],
    Subworkflow: [
      ["workflow_id", undefined],
      ["workflow_id", ""],
      ["workflow_id", "{{", "invalid_template"],
      ["mode", undefined],
      ["mode", "async"],
      ["mode", "fire_and_forget", "invalid", "result_key"],
      ["result_key", undefined],
      ["result_key", "input"],
      ["result_key", "B"],
      ["result_key", "__proto__"],
      ["input.of", "{{", "invalid_template"],
    ],
  };
  for (const [kind, list] of Object.entries(rows) as [Kind, (typeof rows)[Kind]][]) {
    for (const [path, value, code = "invalid", at = path, over = {}] of list) {
      test(`${kind} ${path} = ${JSON.stringify(value)?.slice(0, 60)}`, () => {
        const bad = withMember(around(states[kind]) as Json, `spec.states.A.${path}`, value);
        expectOne(bad, `spec.states.A.${at}`, code, over as Over);
      });
    }
  }
});

describe("transitions", () => {
  const rows: readonly (readonly [Json, string, string?])[] = [
    ["x", ""],
    [{}, ".target"],
    [{ target: "NOWHERE" }, ".target"],
    [{ target: "toString" }, ".target"],
    [{ target: "b" }, ".target"],
    [{ target: "B", condition: "sometimes" }, ".condition"],
    [{ target: "B", condition: 1 }, ".condition"],
    [{ target: "B", feedback: "{{" }, ".feedback", "invalid_template"],
    [{ target: "B", condition: "exit_code" }, ".value"],
    [{ target: "B", condition: "exit_code", value: "one" }, ".value"],
    [{ target: "B", condition: "exit_code", value: 1.5 }, ".value"],
    [{ target: "B", condition: "exit_code", value: 9e9 }, ".value"],
    [{ target: "B", condition: "score_above" }, ".threshold"],
    [{ target: "B", condition: "score_above", threshold: "high" }, ".threshold"],
    [{ target: "B", condition: "score_below" }, ".threshold"],
    [{ target: "B", condition: "confidence_above" }, ".threshold"],
    [{ target: "B", condition: "score_and_confidence_above" }, ".threshold"],
    [{ target: "B", condition: "score_between", min: 0 }, ".max"],
    [{ target: "B", condition: "score_between", max: 0 }, ".min"],
    [{ target: "B", condition: "score_between", min: 1, max: 0 }, ".max"],
    [{ target: "B", condition: "consensus" }, ".threshold"],
    [{ target: "B", condition: "consensus", threshold: 1, agreement: "x" }, ".agreement"],
    [{ target: "B", condition: "input_equals" }, ".value"],
    [{ target: "B", condition: "input_equals", value: 1 }, ".value"],
    [{ target: "B", condition: "custom" }, ".expression"],
    [{ target: "B", condition: "custom", expression: "" }, ".expression"],
    [{ target: "B", condition: "custom", expression: "a ==" }, ".expression", "invalid_expression"],
    [{ target: "B", condition: "custom", expression: "a; b" }, ".expression", "invalid_expression"],
    [{ target: "B", condition: "custom", expression: "((((" }, ".expression", "invalid_expression"],
  ];
  for (const [transition, at, code = "invalid"] of rows) {
    test(JSON.stringify(transition), () => {
      const state = { ...states.System, transitions: [transition] } as Json;
      expectOne(around(state) as Json, `spec.states.A.transitions.0${at}`, code);
    });
  }
});

describe("what is no fault", () => {
  const rows: readonly (readonly [Kind, string, Json, Over?])[] = [
    ["Human", "timeout_seconds", 7200],
    ["Human", "notify.0", { type: "email", to: ["a@b.c"] } as Json, { email: true }],
    ["ContainerRun", "run_as_user", 0, { rootAllowed: true }],
    ["System", "workdir", "{{input.dir}}"],
    ["System", "image", "{{input.image}}"],
    ["System", "command", "update_blackboard"],
    ["Agent", "agent", "{{input.agent}}"],
    ["Agent", "agent", "11111111-2222-4333-8444-555555555555"],
    ["Agent", "timeout", 2_592_000],
    ["Subworkflow", "workflow_id", "Not A Name"],
    ["ParallelAgents", "consensus.confidence_weighting.agreement_factor", 0.609],
    ["ParallelAgents", "output_handler.url", "{{input.url}}"],
    ["ContainerRun", "volumes", [{ name: "cache", mount_path: "/workspace" }] as Json],
  ];
  for (const [kind, path, value, over = {}] of rows) {
    test(`${kind} ${path} = ${JSON.stringify(value)}`, () => {
      const document = withMember(around(states[kind]) as Json, `spec.states.A.${path}`, value);
      expect(reading(document, over).issues).toEqual([]);
    });
  }
});

test("some findings give their code to the whole answer", () => {
  const issue = (code: string) => ({ path: "x", message: "x", code });
  expect(refusal([issue("unsafe_template_position")]).code).toBe("unsafe_template_position");
  expect(refusal([issue("unsupported_output_handler")]).code).toBe("unsupported_output_handler");
  expect(refusal([issue("unsupported_output_handler"), issue("invalid")]).code).toBe("invalid_manifest");
  expect(refusal([issue("unsupported_isolation")]).code).toBe("invalid_manifest");
  const problem = refusal([issue("invalid")]);
  expect([problem.status, problem.extras.issues]).toEqual([422, [issue("invalid")]]);
});
