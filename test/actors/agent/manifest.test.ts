/** What a manifest may say: every bound, code, warning and default (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { specOf, verdictOf } from "./fixture.ts";
import { manifest, manifestWith } from "./offer.ts";

test("a manifest that says little gets every default", () => {
  expect(specOf(manifest())).toEqual({
    metadata: {
      name: "greeter",
      version: "1.0.0",
      description: null,
      tags: [],
      labels: {},
      annotations: {},
      agent_type: "standard",
    },
    runtime: {
      language: "python",
      version: "3.12",
      image: "python:3.12-slim",
      image_pull_policy: "IfNotPresent",
      registry_credentials: null,
      isolation: "inherit",
      model: "default",
      temperature: null,
      bootstrap_env: {},
    },
    task: { instruction: "Say hello.", prompt_template: null, input_data: null, agentskills: [] },
    execution: {
      mode: "one-shot",
      max_iterations: 1,
      iteration_timeout_ms: 600_000,
      llm_timeout_ms: 300_000,
      max_tokens: null,
      validators: [],
      tool_judges: [],
      deliveries: [],
    },
    resources: { cpu_millicores: 1000, memory_bytes: 512 * 2 ** 20, disk_bytes: 2 ** 30, timeout_ms: 1_800_000 },
    network: null,
    filesystem: { read: [], write: [], read_only: false },
    tools: [],
    env: {},
    input_schema: null,
    security_context: null,
    context: [],
    volumes: [],
    schedule: null,
    output_handler: null,
    warm_pool_size: 0,
    swarm: false,
    startup_script: null,
    bootstrap_path: null,
  });
});

describe("one fault, one issue", () => {
  const faults: readonly (readonly [path: string, value: Json, code?: string, at?: string])[] = [
    ["apiVersion", null],
    ["apiVersion", "svc.dev/v2", "unsupported_api_version"],
    ["apiVersion", 1],
    ["kind", null],
    ["kind", "Workflow"],
    ["metadata", null],
    ["metadata", []],
    ["metadata.name", null],
    ["metadata.name", ""],
    ["metadata.name", "Upper"],
    ["metadata.name", "-edge"],
    ["metadata.name", "edge-"],
    ["metadata.name", "a".repeat(64)],
    ["metadata.name", 7],
    ["metadata.version", null],
    ["metadata.version", "v 1"],
    ["metadata.version", ".1"],
    ["metadata.version", "1".repeat(65)],
    ["metadata.version", 1.2],
    ["metadata.description", "x".repeat(4097)],
    ["metadata.tags", "a"],
    ["metadata.tags", Array(33).fill("t")],
    ["metadata.tags", ["x".repeat(65)], "invalid", "metadata.tags.0"],
    ["metadata.labels", { a: 1 }, "invalid", "metadata.labels.a"],
    ["metadata.labels", { a: "x".repeat(257) }, "invalid", "metadata.labels.a"],
    ["metadata.labels", { ["k".repeat(64)]: "v" }, "invalid", `metadata.labels.${"k".repeat(64)}`],
    ["metadata.labels", Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, "v"]))],
    ["metadata.labels", Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, "v"]))],
    ["metadata.annotations", { a: "x".repeat(4097) }, "invalid", "metadata.annotations.a"],
    ["spec", null],
    ["spec.runtime", null],
    ["spec.runtime", {}],
    ["spec.runtime.version", null, "invalid", "spec.runtime.version"],
    ["spec.runtime.language", null, "invalid", "spec.runtime.language"],
    ["spec.runtime.version", "2.7", "unsupported_runtime"],
    ["spec.runtime.language", "cobol", "unsupported_runtime"],
    ["spec.runtime.image", "python:3.12", "unqualified_image"],
    ["spec.runtime.image", "Bad/Image"],
    ["spec.runtime.image", "a/b:tag with space"],
    ["spec.runtime.image_pull_policy", "Sometimes"],
    ["spec.runtime.isolation", "chroot"],
    ["spec.runtime.isolation", "firecracker", "unsupported_isolation"],
    ["spec.runtime.isolation", "docker", "unsupported_isolation"],
    ["spec.runtime.model", "m".repeat(65)],
    ["spec.runtime.temperature", 2.1],
    ["spec.runtime.temperature", "1"],
    ["spec.task", null],
    ["spec.task.instruction", null],
    ["spec.task.instruction", " \n\t"],
    ["spec.task.instruction", "x".repeat(100_001)],
    ["spec.execution.mode", "loop"],
    ["spec.execution.max_iterations", 0],
    ["spec.execution.max_iterations", 21],
    ["spec.execution.max_iterations", 1.5],
    ["spec.execution.max_retries", 21],
    ["spec.execution.iteration_timeout", "soon"],
    ["spec.execution.iteration_timeout", "0s"],
    ["spec.execution.iteration_timeout", "31m"],
    ["spec.execution.llm_timeout_seconds", 0],
    ["spec.execution.llm_timeout_seconds", 3601],
    ["spec.execution.memory", "yes"],
    ["spec.execution.validation", "strict"],
    ["spec.execution.validation", Array(17).fill({ type: "exit_code" })],
    ["spec.execution.validation", [{}], "invalid", "spec.execution.validation.0.type"],
    ["spec.execution.validation", [{ type: "vibes" }], "invalid", "spec.execution.validation.0.type"],
    [
      "spec.execution.validation",
      [{ type: "exit_code", expected: 256 }],
      "invalid",
      "spec.execution.validation.0.expected",
    ],
    [
      "spec.execution.validation",
      [{ type: "exit_code", min_score: 2 }],
      "invalid",
      "spec.execution.validation.0.min_score",
    ],
    ["spec.execution.validation", [{ type: "json_schema" }], "invalid", "spec.execution.validation.0.schema"],
    [
      "spec.execution.validation",
      [{ type: "json_schema", schema: { type: "objekt" } }],
      "invalid_schema",
      "spec.execution.validation.0.schema",
    ],
    [
      "spec.execution.validation",
      [{ type: "json_schema", schema: { $ref: "https://x.example/s" } }],
      "invalid_schema",
      "spec.execution.validation.0.schema",
    ],
    [
      "spec.execution.validation",
      [{ type: "json_schema", schema: { $schema: "http://json-schema.org/draft-04/schema#" } }],
      "invalid_schema",
      "spec.execution.validation.0.schema",
    ],
    [
      "spec.execution.validation",
      [{ type: "json_schema", schema: { description: "x".repeat(65_536) } }],
      "invalid_schema",
      "spec.execution.validation.0.schema",
    ],
    [
      "spec.execution.validation",
      Array(5).fill({ type: "json_schema", schema: { description: "x".repeat(30_000) } }),
      "invalid_schema",
    ],
    ["spec.execution.validation", [{ type: "regex" }], "invalid", "spec.execution.validation.0.pattern"],
    ["spec.execution.validation", [{ type: "regex", pattern: "(" }], "invalid", "spec.execution.validation.0.pattern"],
    [
      "spec.execution.validation",
      [{ type: "regex", pattern: "a", flags: "g" }],
      "invalid",
      "spec.execution.validation.0.flags",
    ],
    [
      "spec.execution.validation",
      [{ type: "regex", pattern: "a", flags: "ii" }],
      "invalid",
      "spec.execution.validation.0.flags",
    ],
    [
      "spec.execution.validation",
      [{ type: "regex", pattern: "a", target: "both" }],
      "invalid",
      "spec.execution.validation.0.target",
    ],
    [
      "spec.execution.validation",
      [{ type: "exit_code", script: "x.sh" }],
      "unsupported_field",
      "spec.execution.validation.0.script",
    ],
    ["spec.execution.validation", { output: {} }, "invalid", "spec.execution.validation.output"],
    [
      "spec.execution.validation",
      { output: { schema_path: "x", regex: "a" } },
      "unsupported_field",
      "spec.execution.validation.output.schema_path",
    ],
    [
      "spec.execution.validation",
      { system: { exit_code: "0" } },
      "invalid",
      "spec.execution.validation.system.exit_code",
    ],
    ["spec.security.network", { mode: "bridge" }, "invalid", "spec.security.network.mode"],
    ["spec.security.filesystem", { read: ["relative"] }, "invalid", "spec.security.filesystem.read.0"],
    ["spec.security.resources.cpu", 49],
    ["spec.security.resources.cpu", 64_001],
    ["spec.security.resources.cpu", "fast"],
    ["spec.security.resources.memory", "lots"],
    ["spec.security.resources.memory", "15Mi"],
    ["spec.security.resources.memory", "257Gi"],
    ["spec.security.resources.disk", "2Ti"],
    ["spec.security.resources.timeout", "never"],
    ["spec.security.resources.timeout", "6h1s"],
    ["spec.security.resources.timeout", 0],
    ["spec.tools", "fs.read"],
    ["spec.tools", Array(129).fill("fs.read")],
    ["spec.tools", [7], "invalid", "spec.tools.0"],
    ["spec.tools", ["fs .read"], "invalid", "spec.tools.0"],
    ["spec.tools", ["fs.*.x"], "invalid", "spec.tools.0"],
    ["spec.tools", [{ skip_judge: true }], "invalid", "spec.tools.0.name"],
    ["spec.env", { "1A": "x" }, "invalid", "spec.env.1A"],
    ["spec.env", { A: 1 }, "invalid", "spec.env.A"],
    ["spec.env", Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`K${i}`, "v"]))],
    ["spec.env", { A: "x".repeat(65_537) }, "invalid", "spec.env.A"],
    ...["SVC_X", "AEGIS_X", "LD_PRELOAD", "PATH", "HOME", "HTTP_PROXY", "https_proxy", "No_Proxy", "ALL_PROXY"].map(
      (name) => ["spec.env", { [name]: "x" }, "reserved_env", `spec.env.${name}`] as const,
    ),
    ["spec.environment", { PATH: "x" }, "reserved_env", "spec.environment.PATH"],
    ["environment", { PATH: "x" }, "reserved_env", "environment.PATH"],
    ["spec.advanced.warm_pool_size", 11],
    ["spec.advanced.bootstrap_path", "relative"],
    ["spec.input_schema", { type: "objekt" }, "invalid_schema"],
    ["metadata.description", "a\0b"],
    ["metadata.description", "\ud800"],
    ["spec.task.instruction", "a\0b"],
    ["metadata.labels", { "a\0b": "v" }, "invalid", "metadata.labels.a␀b"],
    ["anything.at.all", ["\0"], "invalid", "anything.at.all.0"],
    ["spec.security.resources.cpu", Number.NaN],
  ];
  test.each(faults)("%s = %j", (path, value, code = "invalid", at = path) => {
    const verdict = verdictOf(manifestWith(path, value));
    expect(verdict.issues.map((issue) => [issue.path, issue.code])).toContainEqual([at, code]);
    // NaN and NUL also fail where they stand.
    expect(verdict.issues.length).toBeLessThanOrEqual(
      JSON.stringify(value)?.includes("u0000") || Number.isNaN(value) ? 2 : 1,
    );
    expect(verdict.code).toBe(code === "invalid" ? "invalid_manifest" : (code as never));
  });

  test.each([[null], ["text"], [3], [[]], [true]])("a document that is %p", (document) => {
    expect(verdictOf(document)).toMatchObject({ code: "invalid_manifest", issues: [{ path: "", code: "invalid" }] });
  });
});

test("all faults are found at once, each with its own code", () => {
  const document = manifestWith("spec.security.resources.memory", "lots");
  const spec = document.spec as { [key: string]: Json };
  spec.runtime = { language: "python", version: "3.12", isolation: "firecracker" };
  (document.metadata as { [key: string]: Json }).name = "NO";
  const { code, issues } = verdictOf(document);
  expect(code).toBe("invalid_manifest");
  expect(issues.map((issue) => [issue.path, issue.code])).toEqual([
    ["metadata.name", "invalid"],
    ["spec.runtime.isolation", "unsupported_isolation"],
    ["spec.security.resources.memory", "invalid"],
  ]);
});

test("one code shared by every issue becomes the code of the answer", () => {
  const document = manifestWith("spec.env", { PATH: "a", HOME: "b" });
  expect(verdictOf(document)).toMatchObject({ code: "reserved_env", issues: [{}, {}] });
});

test("an unknown runtime comes with the known ones", () => {
  expect(verdictOf(manifestWith("spec.runtime.version", "1.0")).issues[0]?.available).toEqual([
    "python 3.9",
    "python 3.10",
    "python 3.11",
    "python 3.12",
    "python 3.13",
  ]);
});

test("answers stay small however much is wrong", () => {
  const document = manifestWith("spec.env", { A: "x" });
  document.annotations = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, "\0"]));
  expect(verdictOf(document).issues.length).toBeLessThanOrEqual(200);
});

test("no document makes the reading throw, and none passes with an issue", () => {
  const key = fc.constantFrom(
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "runtime",
    "task",
    "execution",
    "validation",
    "security",
    "resources",
    "tools",
    "env",
    "labels",
    "name",
    "version",
    "type",
    "schema",
    "advanced",
    "__proto__",
    "constructor",
    "network",
  );
  // Only documents may hold it: assigning below it would change every object of the test.
  const place = key.filter((name) => name !== "__proto__" && name !== "constructor");
  const { document } = fc.letrec<{ document: Json }>((tie) => ({
    document: fc.oneof(
      { depthSize: "medium" },
      fc.constantFrom<Json>(null, true, 0, 1.5, "", "x", "5m", "regex", "json_schema"),
      fc.array(tie("document"), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie("document")), { maxLength: 6 }).map((pairs) => Object.fromEntries(pairs)),
    ),
  }));
  fc.assert(
    fc.property(document, place, place, (value, section, member) => {
      for (const candidate of [
        value,
        manifestWith(`spec.${section}`, value),
        manifestWith(`spec.${section}.${member}`, value),
      ]) {
        const verdict = verdictOf(candidate);
        expect(verdict.spec === null).toBe(verdict.issues.length > 0);
      }
    }),
    { numRuns: 500 },
  );
});

test("a refusal tells choices, notations and the nearest right name", () => {
  const messageOf = (document: Json) => verdictOf(document).issues.map(({ path, message }) => `${path} ${message}`)[0];
  const resource = (name: string, value: string) => messageOf(manifestWith(`spec.security.resources.${name}`, value));
  expect(messageOf(manifest({ kind: "Agnet" }))).toBe("kind must be Agent");
  expect(resource("memory", "256Xi")).toContain("memory must be bytes such as 1048576, 512Mi");
  expect(resource("timeout", "10 minutes")).toContain("timeout must be a duration such as 90, 90s, 10m");
  expect(resource("cpu", "half")).toContain("cpu must be a share of processors such as 500");
  const runtime = (language: string, version: string) => messageOf(manifestWith("spec.runtime", { language, version }));
  expect(runtime("pyton", "3.12")).toMatch(/language is not a runtime .* python 3\.12.*; did you mean python\?$/);
  expect(runtime("python", "9.9")).toMatch(/version is not a runtime of this node, which has python /);
});

test("a tool that is unknown is warned of with the nearest that there is", () => {
  const messages = (name: string) => verdictOf(manifestWith("spec.tools", [name])).warnings.map((one) => one.message);
  expect(messages("cmd.rum")[0]).toEndWith("; did you mean cmd.run?");
  expect(messages("nothing.alike")[0]).toEndWith("starts will be refused");
});

test("a template's path that no run has is a warning, with the right name beside it", () => {
  const warned = (path: string, text: string, over: Json = null) => {
    const given = manifestWith(path, text);
    const spec = over === null ? given : { ...given, spec: { ...(given.spec as object), input_schema: over } };
    return verdictOf(spec).warnings.filter(({ code }) => code === "template_path_missing");
  };
  const prompt = (text: string, schema: Json = null) => warned("spec.task.prompt_template", text, schema);
  expect(prompt("{{inptu}} {{inptu.a}}")).toMatchObject([
    {
      path: "spec.task.prompt_template",
      message: expect.stringMatching(/a start may bring it; did you mean input\?$/),
    },
  ]);
  const schema = { type: "object", properties: { invoice: { type: "string" } } };
  expect(prompt("{{input.invoce}}", schema)).toMatchObject([
    { message: "input.invoce does not exist; did you mean invoice?" },
  ]);
  expect(prompt("{{input.invoice}} {{input}} {{instruction}} {{#each input.list}}{{name}}{{/each}}", schema)).toEqual(
    [],
  );
  expect(prompt("{{input.anything}}{{default gone 1}}{{previous_attempts.0.reason}}")).toEqual([]);
  const handler = { type: "agent", agent_id: "other", input_template: "{{outptu}} {{output}}" };
  const { warnings } = verdictOf(manifestWith("spec.output_handler", handler));
  expect(warnings).toMatchObject([
    { path: "spec.output_handler.input_template", message: expect.stringContaining("did you mean output?") },
  ]);
});
