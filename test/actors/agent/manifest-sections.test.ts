/** Sections of a manifest: what is not supported yet, warnings, images, iterations, validators, tools. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { specOf, verdictOf } from "./fixture.ts";
import { manifestWith } from "./offer.ts";

describe("not supported yet: refused, never ignored", () => {
  const rows: readonly (readonly [path: string, value: Json, at?: string])[] = [
    [
      "spec.output_handler",
      { type: "webhook", url: "https://x.example", headers: { Authorization: "secret:a/b" } },
      "spec.output_handler.headers.Authorization",
    ],
    [
      "spec.execution.delivery",
      { destinations: [{ type: "rest", url: "https://x.example", secret: "secret:a/b" }] },
      "spec.execution.delivery.destinations.0.secret",
    ],
  ];
  test.each(rows)("%s = %j", (path, value, at = path) => {
    const { issues } = verdictOf(manifestWith(path, value));
    expect(issues.map((issue) => [issue.path, issue.code])).toContainEqual([at, "unsupported_field"]);
  });

  test.each([
    ["spec.env", "secret:a/../b"],
    ["spec.environment", "credential:-"],
    ["environment", "secret://{{input}}"],
  ])("%s takes references as they must be written: %s is none", (path, KEY) => {
    const issues = (value: string) => verdictOf(manifestWith(path, { KEY: value })).issues.map((issue) => issue.path);
    expect([issues(KEY), issues("secret:a/b#c"), issues("credential://crm")]).toEqual([[`${path}.KEY`], [], []]);
  });

  const harmless: readonly (readonly [path: string, value: Json])[] = [
    ["metadata.labels", { role: "worker" }],
    ["spec.task.agentskills", []],
    ["spec.context", []],
    ["spec.execution.tool_validation", []],
    ["spec.execution.delivery", { destinations: [] }],
    ["spec.security.network", { mode: "none", allowlist: ["a.example"] }],
    ["spec.security.filesystem", { read: [], write: [], read_only: false }],
    ["spec.schedule", { type: "manual" }],
    ["spec.schedule", { type: "cron", cron: "* * * * *", enabled: false }],
    ["spec.volumes", []],
    ["spec.advanced", { warm_pool_size: 0, swarm_enabled: false }],
    ["spec.tools", [{ name: "cmd.run", skip_judge: true }]],
  ];
  test.each(harmless)("but its default is fine: %s = %j", (path, value) => {
    expect(verdictOf(manifestWith(path, value))).toMatchObject({ code: null, warnings: [] });
  });
});

describe("warnings", () => {
  const rows: readonly (readonly [path: string, value: Json, code: string, at?: string])[] = [
    ["metadata.version", "latest", "not_semver"],
    ["metadata.version", "01.2.3", "not_semver"],
    [
      "spec.runtime",
      { language: "python", version: "3.12", image: "a/b" },
      "image_overrides_language",
      "spec.runtime.image",
    ],
    ["spec.runtime", { image: "ghcr.io/a/b:1" }, "image_ignored", "spec.runtime.image"],
    ["spec.runtime.version", "3.9", "deprecated_runtime"],
    ["spec.runtime.model", "unheard-of", "unknown_model_alias"],
    [
      "spec.execution",
      { mode: "one-shot", max_iterations: 3 },
      "max_iterations_ignored",
      "spec.execution.max_iterations",
    ],
    ["spec.execution.memory", true, "reserved_field"],
    ["spec.advanced.health_check", {}, "reserved_field"],
    ["spec.tools", ["web.fetch"], "unknown_tool", "spec.tools.0"],
    ["spec.tools", ["edge.*"], "unknown_tool", "spec.tools.0"],
    ["spec.tools", ["cmd.run", "mcp:github"], "unknown_tool", "spec.tools.1"],
    ["colour", "red", "unknown_field"],
    ["spec.colour", "red", "unknown_field"],
    ["spec.security.resources.colour", "red", "unknown_field"],
    [
      "spec.execution.validation",
      [{ type: "exit_code", colour: 1 }],
      "unknown_field",
      "spec.execution.validation.0.colour",
    ],
  ];
  test.each(rows)("%s = %j", (path, value, code, at = path) => {
    const { warnings, issues } = verdictOf(manifestWith(path, value));
    expect(issues).toEqual([]);
    expect(warnings.map((warning) => [warning.path, warning.code])).toContainEqual([at, code]);
  });
});

describe("images", () => {
  const docker = { isolations: ["docker" as const], defaultIsolation: "docker" as const };
  test("are used where there are containers", () => {
    const { spec, warnings } = verdictOf(manifestWith("spec.runtime", { image: "ghcr.io/acme/agent:1.2" }), docker);
    expect(warnings).toEqual([]);
    expect(spec?.runtime).toMatchObject({ image: "ghcr.io/acme/agent:1.2", language: null });
  });
  test.each([
    ["ghcr.io/a/b", true],
    ["localhost:5000/a/b", false],
    ["acme/agent", false],
    ["docker.io/library/python:3.12", false],
    [`ghcr.io/a/b@sha256:${"a".repeat(64)}`, true],
  ])("%s by registry", (image, allowed) => {
    const verdict = verdictOf(manifestWith("spec.runtime", { image }), { ...docker, imageRegistries: ["ghcr.io"] });
    expect(verdict.code).toBe(allowed ? null : "image_not_allowed");
  });
  test.each([
    "127.0.0.1/a/b",
    "127.0.0.1:5000/a/b",
    "127.1/a",
    "2130706433:80/a",
    "0x7f.0x1/a",
    "127.0.0.0x1/a",
    "10.0.0.7:443/a",
    "169.254.169.254/latest",
    "8.8.8.8/a",
    "localhost/a",
    "LOCALHOST/a",
    "Localhost:5000/a",
    "app.localhost/a",
    "registry:5000/a",
    "REGISTRY/a",
    "host.docker.internal:5000/a",
    "printer.local/a",
    "registry.kube-system.svc/a",
    "registry.svc.cluster.local:5000/a",
    "nas.home.arpa/a",
    "git.corp/a",
    "router.lan:443/a",
  ])("%s is a registry that no agent may send the engine to, unless the node lists it", (image) => {
    const verdict = (imageRegistries: readonly string[] | null) =>
      verdictOf(manifestWith("spec.runtime", { image }), { ...docker, imageRegistries }).code;
    expect([verdict(null), verdict(["*"]), verdict(["docker.io", "ghcr.io"])]).toEqual(
      Array(3).fill("image_not_allowed"),
    );
    expect(verdict(["*", image.split("/", 1)[0] ?? ""])).toBeNull();
  });
  test.each([
    ["docker.io/library/python:3.12", null],
    ["acme/agent", null],
    ["registry/agent", null],
    ["registry.example.com:5000/a", null],
    ["xn--80ak6aa92e.com/a", null],
    ["ghcr.io/a/b", ["*"]],
    ["GHCR.io/a/b", ["ghcr.io"]],
    ["index.docker.io/a/b", ["docker.io"]],
  ] as const)("%s may be pulled where the list is %p", (image, imageRegistries) => {
    expect(verdictOf(manifestWith("spec.runtime", { image }), { ...docker, imageRegistries }).code).toBeNull();
  });
});

describe("iterations", () => {
  test.each([
    [{}, "one-shot", 1],
    [{ mode: "iterative" }, "iterative", 5],
    [{ max_iterations: 3 }, "iterative", 3],
    [{ max_iterations: 1 }, "one-shot", 1],
    [{ max_retries: 4 }, "iterative", 4],
    [{ max_iterations: 2, max_retries: 4 }, "iterative", 2],
    [{ mode: "one-shot", max_iterations: 3 }, "one-shot", 1],
    [{ mode: "iterative", max_iterations: 1 }, "iterative", 1],
  ])("%j", (execution, mode, max) => {
    expect(specOf(manifestWith("spec.execution", execution)).execution).toMatchObject({ mode, max_iterations: max });
  });

  test("an iteration is given no longer than the whole execution", () => {
    expect(specOf(manifestWith("spec.security.resources.timeout", "2m")).execution.iteration_timeout_ms).toBe(120_000);
  });
});

describe("validators", () => {
  const validators = (validation: Json) =>
    specOf(manifestWith("spec.execution.validation", validation)).execution.validators;
  test("list form with defaults", () => {
    expect(
      validators([
        { type: "exit_code" },
        { type: "json_schema", schema: true },
        { type: "regex", pattern: "a", flags: "im" },
      ]),
    ).toEqual([
      { type: "exit_code", expected: 0, min_score: 0.7, min_confidence: 0 },
      { type: "json_schema", schema: true, target_path: null, min_score: 1, min_confidence: 0 },
      { type: "regex", pattern: "a", target: "stdout", flags: "im", min_score: 1, min_confidence: 0 },
    ]);
  });
  test("object form", () => {
    expect(validators({ system: { exit_code: 3 }, output: { schema: { type: "object" }, regex: "x" } })).toEqual([
      { type: "exit_code", expected: 3, min_score: 0.7, min_confidence: 0 },
      { type: "json_schema", schema: { type: "object" }, target_path: null, min_score: 1, min_confidence: 0 },
      { type: "regex", pattern: "x", target: "stdout", flags: "", min_score: 1, min_confidence: 0 },
    ]);
  });
  test("draft-07 by $schema", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { a: { type: "string" } },
      $ref: "#/definitions/a",
    };
    expect(validators([{ type: "json_schema", schema }])).toHaveLength(1);
  });
});

test("the environment merges, earlier spellings win", () => {
  const document = manifestWith("spec.env", { A: "1" });
  (document.spec as { [key: string]: Json }).environment = { A: "2", B: "2" };
  document.environment = { A: "3", B: "3", C: "3", __proto__x: "3" };
  expect(specOf(document).env).toEqual({ A: "1", B: "2", C: "3", __proto__x: "3" });
});

test("tools are granted under one spelling", () => {
  expect(specOf(manifestWith("spec.tools", ["fs.*", { name: "aegis.agent.list", skip_judge: true }])).tools).toEqual([
    { name: "fs.*", skip_judge: false },
    { name: "svc.agent.list", skip_judge: true },
  ]);
});

test("a tool can be held back until a person approves its calls", () => {
  const approval = { when: "priority == 'high'", approvers: ["role:operator"], quorum: 2, editable: true };
  expect(specOf(manifestWith("spec.tools", [{ name: "cmd.run", approval }])).tools).toEqual([
    {
      name: "cmd.run",
      skip_judge: false,
      approval: {
        ...approval,
        forbid_initiator: false,
        timeout_seconds: 3600,
        on_timeout: "reject",
        remember: null,
        elicit: false,
      },
    },
  ]);
});

test.each([
  [{ quorum: 6 }, "quorum"],
  [{ approvers: ["user:a"], quorum: 2 }, "quorum"],
  [{ approvers: ["ada"] }, "approvers.0"],
  [{ timeout_seconds: 59 }, "timeout_seconds"],
  [{ on_timeout: "approve" }, "on_timeout"],
  [{ remember: "always" }, "remember"],
  [{ when: "(" }, "when"],
  [{ whenever: true }, "whenever"],
])("an approval of a tool is checked: %j", (approval, member) => {
  const { issues } = verdictOf(manifestWith("spec.tools", [{ name: "cmd.run", approval }]));
  expect(issues.map(({ path }) => path)).toContain(`spec.tools.0.approval.${member}`);
});

test("labels decide the type of agent", () => {
  expect(specOf(manifestWith("metadata.labels", { role: "worker" })).metadata.agent_type).toBe("worker");
});
