/** `/schemas/agent.json` says what the reader does, as far as a JSON Schema can (docs/reference/agents.md). */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { agentSchema, validateManifest } from "../../../actors/agent/manifest/manifest.ts";
import { parseManifest } from "../../../actors/agent/manifest/parse.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { conforms, schemaOf, someFault, someMembers } from "../manifest/schema-properties.ts";
import { offer } from "./offer.ts";

const whole = {
  apiVersion: "svc.dev/v1",
  kind: "Agent",
  metadata: { name: "all", version: "1.0.0", description: "d", tags: ["a"], labels: { role: "x" }, annotations: {} },
  environment: { A: "1" },
  spec: {
    runtime: { language: "python", version: "3.12", isolation: "process", model: "default", temperature: 1 },
    task: { instruction: "x", prompt_template: "{{input}}", input_data: { a: 1 }, agentskills: ["s"] },
    context: [
      { type: "text", content: "c", description: "d" },
      { type: "file", path: "a/b" },
      { type: "directory", path: "/workspace" },
      { type: "url", url: "https://example.com/c" },
    ],
    execution: {
      mode: "iterative",
      max_iterations: 3,
      max_retries: 2,
      iteration_timeout: "5m",
      llm_timeout_seconds: 20,
      max_tokens: 100,
      memory: true,
      validation: [
        { type: "exit_code", expected: 0, min_score: 0.5 },
        { type: "json_schema", schema: { type: "object" }, target_path: "a.b" },
        { type: "regex", pattern: "a+", target: "stderr", flags: "im" },
        { type: "semantic", judge_agent: "j1", criteria: "c", timeout_seconds: 3, min_confidence: 0.3 },
        { type: "multi_judge", judges: ["a", { agent: "b", weight: 2 }], criteria: "c", consensus: "best_of_n", n: 1 },
      ],
      tool_validation: [{ type: "semantic", judge_agent: "j2", criteria: "z" }],
      delivery: {
        destinations: [
          { type: "webhook", name: "w", condition: "always", url: "https://example.com", headers: { a: "b" } },
          { type: "rest", url: "http://example.com", method: "PUT", secret: "s" },
        ],
      },
    },
    security: {
      resources: { cpu: "500m", memory: "1Gi", disk: 1.5e9, timeout: 600 },
      network: { mode: "deny", allowlist: ["*.example.com"], denylist: ["10.0.0.0/8"] },
      filesystem: { read: ["/workspace/**"], write: ["/workspace"], read_only: true },
    },
    volumes: [
      { name: "v", mount_path: "/workspace/v", storage_class: "persistent", size_limit: "1Gi" },
      { name: "w", mount_path: "/workspace/w", source: { volume_id: "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f" } },
      { name: "e", mount_path: "/workspace/e", type: "managed", ttl_hours: 5, access_mode: "read-only" },
    ],
    tools: ["fs.read", "svc.*", { name: "cmd.run", skip_judge: true }],
    env: { B: "2" },
    environment: { C: "3" },
    input_schema: { type: "object", properties: { attachments: {} } },
    schedule: { type: "cron", cron: "*/5 * * * *", timezone: "Europe/Berlin", enabled: true },
    output_handler: { type: "webhook", url: "https://example.com", retry: { max_attempts: 2 }, timeout_seconds: 5 },
    advanced: { health_check: {}, warm_pool_size: 1, swarm_enabled: true, startup_script: "echo" },
  },
} satisfies Json;
const grouped = {
  system: { exit_code: 1 },
  output: { schema: true, regex: "x", target: "stdout" },
  semantic: { judge_agent: "k", prompt: "p", threshold: 0.4 },
};
const { execution } = whole.spec;
const others: readonly Json[] = [
  { ...whole, spec: { ...whole.spec, execution: { ...execution, validation: grouped } } },
  { ...whole, spec: { ...whole.spec, schedule: { type: "interval", seconds: 60 } } },
  { ...whole, spec: { ...whole.spec, output_handler: { type: "agent", agent_id: "a", required: false } } },
];

const schema = schemaOf(agentSchema);
const isAccepted = (document: Json) => validateManifest(document, offer).ok;

test("the schema is one of draft 2020-12, and these manifests are good by both", () => {
  for (const document of [whole, ...others]) {
    expect(validateManifest(document, offer)).toMatchObject({ ok: true });
    expect(conforms(schema, document)).toEqual([]);
  }
});

test("the sample agent conforms", () => {
  const text = readFileSync(join(import.meta.dir, "../../../src/features/agents/sample/hello-agent.yaml"), "utf8");
  expect(conforms(schema, parseManifest({ mediaType: "application/yaml", text }).document)).toEqual([]);
});

test("an accepted manifest conforms, with any members left out or null", () => {
  fc.assert(
    fc.property(fc.constantFrom<Json>(whole, ...others).chain(someMembers), (document) => {
      if (isAccepted(document)) expect(conforms(schema, document)).toEqual([]);
    }),
  );
});

test("a value of the wrong kind is refused by both", () => {
  fc.assert(
    fc.property(
      someFault(whole, ["input_data", "input_schema", "schema", "health_check", "n", "size_limit", "ttl_hours"]),
      (document) => {
        expect(isAccepted(document)).toBe(false);
        expect(conforms(schema, document)).not.toEqual([]);
      },
    ),
  );
});
