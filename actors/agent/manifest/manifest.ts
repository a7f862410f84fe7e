/** Judges a manifest document as a whole and resolves it into what an execution needs. */
import type { Json } from "../../kernel/json.ts";
import type { Problem } from "../../kernel/problem.ts";
import { Fields } from "../../manifest/fields.ts";
import { Findings, type JudgeReference, type Warning } from "../../manifest/findings.ts";
import { checkStorable } from "../../manifest/storable.ts";
import { isSecurityContext } from "../../policy/security-context.ts";
import { readAdvanced, readInputSchema } from "./advanced.ts";
import { readContext } from "./context.ts";
import { readOutputHandler } from "./delivery.ts";
import { readEnvironment } from "./environment.ts";
import { readExecution, readResources } from "./limits.ts";
import { readMetadata } from "./metadata.ts";
import { refuseNotYet } from "./not-yet.ts";
import { readRuntime } from "./runtime.ts";
import { readSchedule } from "./schedule.ts";
import { readFilesystem, readNetwork } from "./security.ts";
import type { AgentSpec, NodeOffer } from "./spec.ts";
import { readTask } from "./task.ts";
import { readTools } from "./tools.ts";
import { readVolumes } from "./volumes.ts";

const apiVersions = ["svc.dev/v1", "100monkeys.ai/v1"];

export type Verdict =
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
export function validateManifest(document: Json, offer: NodeOffer): Verdict {
  return verdict(document, offer, refuseNotYet);
}

/** What the contract makes of a manifest, whether or not this service can do it all. */
export function resolveManifest(document: Json, offer: NodeOffer): Verdict {
  return verdict(document, offer, () => {});
}

function verdict(document: Json, offer: NodeOffer, refuse: typeof refuseNotYet): Verdict {
  const findings = new Findings();
  const spec = readManifest(document, offer, findings);
  refuse(document, findings);
  if (spec === null || findings.issues.length > 0) return { ok: false, problem: findings.problem() };
  return { ok: true, spec, warnings: findings.warnings, judges: findings.judges };
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
  for (const { path, name } of findings.judges) {
    if (name === metadata?.name) findings.issue(path, "an agent cannot judge itself");
  }
  return metadata === null || body === null ? null : { metadata, ...body };
}

function readSpec(root: Fields, spec: Fields, offer: NodeOffer): Omit<AgentSpec, "metadata"> | null {
  const runtime = readRuntime(spec, offer);
  const task = readTask(spec);
  const security = spec.section("security");
  const resources = readResources(security, offer);
  const volumes = readVolumes(spec);
  const tools = readTools(spec, offer);
  const read = {
    resources,
    execution: readExecution(spec, resources.timeout_ms),
    network: readNetwork(security, offer),
    filesystem: readFilesystem(security, volumes),
    tools,
    env: readEnvironment(root, spec),
    input_schema: readInputSchema(spec, tools),
    security_context: readSecurityContext(spec),
    context: readContext(spec),
    volumes,
    schedule: readSchedule(spec),
    output_handler: readOutputHandler(spec),
    ...readAdvanced(spec, runtime, offer),
  };
  security.close();
  spec.close();
  return runtime === null || task === null ? null : { runtime, task, ...read };
}

/** Who may use it is decided where it is known who deploys. */
function readSecurityContext(spec: Fields): string | null {
  const name = spec.text("security_context", { min: 1, max: 128 });
  if (name === null || isSecurityContext(name)) return name;
  return spec.issue("security_context", "there is no such security context", "unknown_security_context");
}
