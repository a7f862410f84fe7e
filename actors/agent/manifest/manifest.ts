/** The manifest of an agent as a whole, and what an execution needs of it. */

import type { Json } from "../../kernel/json.ts";
import { isObject } from "../../kernel/json.ts";
import type { Problem } from "../../kernel/problem.ts";
import { manifestSchema } from "../../manifest/document.ts";
import { Fields } from "../../manifest/fields.ts";
import { Findings, type JudgeReference, type Warning } from "../../manifest/findings.ts";
import { head, jsonSchema, kibibytes, template } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { anything, flag, integer, list, text } from "../../manifest/shape.ts";
import { checkStorable } from "../../manifest/storable.ts";
import type { TextPaths } from "../../manifest/text-paths.ts";
import { isContextName } from "../../policy/security/spec.ts";
import { patternCovers } from "../../tool/catalog.ts";
import { context } from "./context.ts";
import { agentDescriptions } from "./descriptions.ts";
import { outputHandler } from "./execution/delivery.ts";
import { execution, iterationTimeout, reserved } from "./execution/execution.ts";
import { schedule } from "./execution/schedule.ts";
import { metadata } from "./metadata.ts";
import { warnOfMissingPaths } from "./missing-paths.ts";
import { bootstrapFault } from "./runtime/bootstrap.ts";
import { environment, maxVariables, runtime } from "./runtime/runtime.ts";
import { security } from "./runtime/security.ts";
import { volumes } from "./runtime/volumes.ts";
import type { AgentScope, AgentSpec, NodeOffer } from "./spec.ts";
import { tools } from "./tools.ts";

const second = 1000;
const attachmentTool = "svc.attachment.read";

const task = object({
  instruction: text({ max: 100_000, pattern: /\S/, form: "more than blanks" }).required().or(""),
  prompt_template: template,
  input_data: anything,
  agentskills: list(text({ max: 4096 }), 256).or([]),
});

const advanced = object({
  health_check: reserved,
  warm_pool_size: integer(0, 10).or(0),
  swarm_enabled: flag(),
  startup_script: kibibytes(64, text({ max: 64 * 1024 })),
  bootstrap_path: text({ max: 4096, pattern: /^\/[^\0]+$/, form: "an absolute path" }),
}).build(({ warm_pool_size, swarm_enabled: swarm, startup_script, bootstrap_path }) => ({
  warm_pool_size,
  swarm,
  startup_script,
  bootstrap_path,
}));

const spec = object({
  runtime: runtime.required(),
  task: task.required(),
  // Before what may be read and written in them.
  volumes,
  security: security.section(),
  tools,
  execution: execution.section(),
  environment,
  env: environment,
  input_schema: jsonSchema,
  // Whether there is one, and who may use it, is decided where it is known who deploys.
  security_context: text({ min: 1, max: 128 }).check((name) =>
    isContextName(name) ? null : ["there is no such security context", "unknown_security_context"],
  ),
  context,
  schedule,
  output_handler: outputHandler,
  advanced: advanced.section(),
}).build((read, fields, { offer }: AgentScope): Omit<AgentSpec, "metadata"> | null => {
  const { runtime, task, security, execution, advanced, environment, env, ...rest } = read;
  const { timeout_ms } = security.resources;
  if ((execution.iteration_timeout_ms ?? 0) > timeout_ms) {
    fields.issue("execution.iteration_timeout", `must be from ${iterationTimeout}`);
  }
  checkAttachments(rest.input_schema, rest.tools, fields);
  if (runtime === null || task === null) return null;
  const isolation = runtime.isolation === "inherit" ? offer.defaultIsolation : runtime.isolation;
  const fault = bootstrapFault(advanced.bootstrap_path, isolation, offer);
  if (fault !== null) fields.issue("advanced.bootstrap_path", fault, "bootstrap_path_forbidden");
  warnOfMissingPaths({ ...rest, task }, fields);
  return {
    ...rest,
    ...security,
    ...advanced,
    runtime,
    task,
    execution: {
      ...execution,
      iteration_timeout_ms: execution.iteration_timeout_ms ?? Math.min(600 * second, timeout_ms),
    },
    env: { ...environment, ...env },
  };
});

function checkAttachments(schema: Json, tools: AgentSpec["tools"], fields: Fields): void {
  const properties = isObject(schema) ? schema.properties : null;
  const declares = isObject(properties) && Object.hasOwn(properties, "attachments");
  if (declares && !tools.some(({ name }) => patternCovers(name, attachmentTool))) {
    const message = `Without the tool ${attachmentTool} runs with attachments are refused`;
    fields.warn("input_schema", "attachment_tool_missing", message);
  }
}

const manifest = object({ ...head("Agent"), metadata: metadata.required(), spec: spec.required(), environment }).build(
  ({ metadata, spec, environment }, fields): AgentSpec | null => {
    for (const { path, name } of fields.findings.judges) {
      if (name === metadata?.name) fields.findings.issue(path, "an agent cannot judge itself");
    }
    if (metadata === null || spec === null) return null;
    // What stands deeper wins.
    const env = { ...environment, ...spec.env };
    if (Object.keys(env).length > maxVariables)
      fields.issue("spec.env", `may have at most ${maxVariables} variables in all`);
    return { metadata, ...spec, env };
  },
);

/** The JSON Schema (2020-12) of such manifests. It says less than the rules: what it refuses is refused. */
export const agentSchema = manifestSchema("Manifest of an agent", manifest, agentDescriptions);
export const agentTextPaths: TextPaths | null = manifest.declared.texts;

export type ManifestCheck =
  | {
      readonly ok: true;
      readonly spec: AgentSpec;
      readonly warnings: readonly Warning[];
      /** Whether they are there is for the caller to find out. */
      readonly judges: readonly JudgeReference[];
    }
  /** Every issue found, as the refusal it becomes. */
  | { readonly ok: false; readonly problem: Problem };

/** Never throws for what the document holds. */
export function validateManifest(document: Json, offer: NodeOffer): ManifestCheck {
  const findings = new Findings();
  checkStorable(document, findings);
  const root = Fields.of(document, "", findings);
  const spec = findings.hasIssueAt("") ? null : manifest.readAll(root, { offer, volumes: [] });
  if (spec === null || findings.issues.length > 0) return { ok: false, problem: findings.problem() };
  return { ok: true, spec, warnings: findings.warnings, judges: findings.judges };
}
