/** Every fault a manifest can be refused for, with the place and the code it is told by (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { refusal } from "../../../../actors/workflow/manifest/judged.ts";
import { around, type Kind, reading, states, withMember } from "./fixture.ts";
import { expectOne, named, type Over, type Row } from "./rows.ts";

const long = (length: number) => "x".repeat(length);

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
