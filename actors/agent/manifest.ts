/** Judges a manifest document as a whole and resolves it into what an execution needs. */
import type { Json } from "../actor.ts";
import type { Problem } from "../problem.ts";
import { readEnvironment } from "./environment.ts";
import { Fields } from "./fields.ts";
import { Findings, type Warning } from "./findings.ts";
import { schemaFault } from "./json-schema.ts";
import { readExecution, readFilesystem, readNetwork, readResources } from "./limits.ts";
import { readMetadata } from "./metadata.ts";
import { refuseNotYet } from "./not-yet.ts";
import { readRuntime } from "./runtime.ts";
import type { AgentSpec, NodeOffer } from "./spec.ts";
import { checkStorable } from "./storable.ts";
import { readTask } from "./task.ts";
import { readTools } from "./tools.ts";

const apiVersions = ["svc.dev/v1", "100monkeys.ai/v1"];

export type Verdict =
  | { readonly ok: true; readonly spec: AgentSpec; readonly warnings: readonly Warning[] }
  /** Every issue found, as the refusal it becomes. */
  | { readonly ok: false; readonly problem: Problem };

/** Never throws for what the document holds. */
export function validateManifest(document: Json, offer: NodeOffer): Verdict {
  const findings = new Findings();
  const spec = readManifest(document, offer, findings);
  refuseNotYet(document, findings);
  if (spec === null || findings.issues.length > 0) return { ok: false, problem: findings.problem() };
  return { ok: true, spec, warnings: findings.warnings };
}

/** Null only after an issue. */
function readManifest(document: Json, offer: NodeOffer, findings: Findings): AgentSpec | null {
  checkStorable(document, findings);
  const root = Fields.of(document, "", findings);
  if (findings.hasIssueAt("")) return null;
  const apiVersion = root.requiredText("apiVersion");
  if (apiVersion !== null && !apiVersions.includes(apiVersion)) {
    root.issue("apiVersion", `must be one of ${apiVersions.join(", ")}`, "unsupported_api_version");
  }
  if (!root.has("kind")) root.issue("kind", "is required");
  root.choice("kind", ["Agent"]);
  const metadata = readMetadata(root);
  const spec = root.requiredSection("spec");
  const body = spec === null ? null : readSpec(root, spec, offer);
  root.elsewhere("environment");
  root.close();
  return metadata === null || body === null ? null : { metadata, ...body };
}

function readSpec(root: Fields, spec: Fields, offer: NodeOffer): Omit<AgentSpec, "metadata"> | null {
  const runtime = readRuntime(spec, offer);
  const task = readTask(spec);
  const security = spec.section("security");
  const resources = readResources(security, offer);
  const read = {
    resources,
    execution: readExecution(spec, resources.timeout_ms),
    network: readNetwork(security),
    filesystem: readFilesystem(security),
    tools: readTools(spec, offer),
    env: readEnvironment(root, spec),
    input_schema: readInputSchema(spec),
    security_context: spec.text("security_context", { min: 1, max: 128 }),
    ...readAdvanced(spec),
  };
  security.close();
  spec.elsewhere("context", "schedule", "volumes", "output_handler");
  spec.close();
  return runtime === null || task === null ? null : { runtime, task, ...read };
}

function readInputSchema(spec: Fields): Json {
  const schema = spec.raw("input_schema");
  const fault = schema === null ? null : schemaFault(schema);
  if (fault !== null) spec.issue("input_schema", fault, "invalid_schema");
  return schema;
}

const absolutePath = { max: 4096, pattern: /^\/[^\0]+$/, form: "an absolute path" };

function readAdvanced(spec: Fields): Pick<AgentSpec, "startup_script" | "bootstrap_path"> {
  const fields = spec.section("advanced");
  fields.integer("warm_pool_size", { min: 0, max: 10 });
  fields.flag("swarm_enabled");
  if (fields.has("health_check")) {
    fields.warn("health_check", "reserved_field", "This field is reserved and has no effect yet");
  }
  const read = {
    startup_script: fields.text("startup_script", { max: 64 * 1024 }),
    bootstrap_path: fields.text("bootstrap_path", absolutePath),
  };
  fields.close();
  return read;
}
