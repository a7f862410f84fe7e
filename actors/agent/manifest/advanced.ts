/** `spec.advanced` and `spec.input_schema`. */

import { isObject, type Json } from "../../kernel/json.ts";
import type { Fields } from "../../manifest/fields.ts";
import { schemaFault } from "../../manifest/json-schema.ts";
import { patternCovers } from "../../tool/catalog.ts";
import type { AgentSpec, NodeOffer, RuntimeSpec, ToolGrant } from "./spec.ts";

const maxScriptBytes = 64 * 1024;
const attachmentTool = "svc.attachment.read";
const absolutePath = { max: 4096, pattern: /^\/[^\0]+$/, form: "an absolute path" };

type Advanced = Pick<AgentSpec, "startup_script" | "bootstrap_path" | "warm_pool_size" | "swarm">;

export function readAdvanced(spec: Fields, runtime: RuntimeSpec | null, offer: NodeOffer): Advanced {
  const fields = spec.section("advanced");
  if (fields.has("health_check")) {
    fields.warn("health_check", "reserved_field", "This field is reserved and has no effect yet");
  }
  const read = {
    warm_pool_size: fields.integer("warm_pool_size", { min: 0, max: 10 }) ?? 0,
    swarm: fields.flag("swarm_enabled"),
    startup_script: readScript(fields),
    bootstrap_path: readBootstrapPath(fields, runtime, offer),
  };
  fields.close();
  return read;
}

function readScript(fields: Fields): string | null {
  const script = fields.text("startup_script", { max: maxScriptBytes });
  if (script === null || new TextEncoder().encode(script).length <= maxScriptBytes) return script;
  return fields.issue("startup_script", "may have at most 64 KiB");
}

/** In a container it is a program of the image; without one it would be any program of the host. */
function readBootstrapPath(fields: Fields, runtime: RuntimeSpec | null, offer: NodeOffer): string | null {
  const path = fields.text("bootstrap_path", absolutePath);
  if (path === null || runtime === null) return path;
  const isolation = runtime.isolation === "inherit" ? offer.defaultIsolation : runtime.isolation;
  if (isolation !== "process" || offer.development) return path;
  return fields.issue("bootstrap_path", "under `process` the service's own bootstrap runs", "bootstrap_path_forbidden");
}

export function readInputSchema(spec: Fields, tools: readonly ToolGrant[]): Json {
  const schema = spec.raw("input_schema");
  const fault = schema === null ? null : schemaFault(schema);
  if (fault !== null) spec.issue("input_schema", fault, "invalid_schema");
  const properties = isObject(schema) ? schema.properties : null;
  const declares = isObject(properties) && Object.hasOwn(properties, "attachments");
  if (declares && !tools.some(({ name }) => patternCovers(name, attachmentTool))) {
    const message = `Without the tool ${attachmentTool} runs with attachments are refused`;
    spec.warn("input_schema", "attachment_tool_missing", message);
  }
  return schema;
}
