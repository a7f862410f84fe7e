/** `spec.execution.delivery` and `spec.output_handler`: where an output goes once it is accepted. */
import type { Delivery, OutputHandler } from "../../execution/start/plan.ts";
import type { Fields } from "../../manifest/fields.ts";
import { readTemplate } from "../../manifest/template-field.ts";
import { readWebTarget } from "../../manifest/web-request.ts";
import { agentName } from "./metadata.ts";

const second = 1000;
const maxDestinations = 16;
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** How a manifest names an agent of the tenant. */
export const agentKey = {
  min: 1,
  max: 63,
  pattern: new RegExp(`${agentName.pattern.source}|${uuid.source.replaceAll("a-f", "A-Fa-f")}`),
  form: "an agent's id or name",
};

export function readDeliveries(execution: Fields): readonly Delivery[] {
  const section = execution.section("delivery");
  const destinations = section.sections("destinations", maxDestinations);
  const deliveries = destinations.flatMap((fields, index) => readDestination(fields, index) ?? []);
  section.close();
  return deliveries;
}

function readDestination(fields: Fields, index: number): Delivery | null {
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["webhook", "rest", "email", "sms", "transform"]);
  if (type === null) return null;
  if (type !== "webhook" && type !== "rest") {
    return fields.issue("type", `${type} is not offered here`, "unsupported_destination");
  }
  const name = fields.text("name", { min: 1, max: 128 }) ?? `${type}-${index + 1}`;
  const condition = fields.choice("condition", ["on_success", "on_failure", "always"]) ?? "on_success";
  const target = readWebTarget(fields);
  const secret = fields.text("secret", { min: 1, max: 1024 });
  fields.close();
  return target === null ? null : { name, condition, ...target, secret };
}

/** @returns null when there is none, and after an issue */
export function readOutputHandler(spec: Fields): OutputHandler | null {
  if (!spec.has("output_handler")) return null;
  const fields = spec.section("output_handler");
  if (spec.findings.hasIssueAt(fields.path)) return null;
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["agent", "webhook", "container", "mcp_tool"]);
  if (type === null) return null;
  if (type !== "agent" && type !== "webhook") {
    return fields.issue("type", `${type} is not offered here`, "unsupported_output_handler");
  }
  const handler = type === "agent" ? readAgentHandler(fields) : readWebhook(fields);
  fields.close();
  return handler;
}

function readAgentHandler(fields: Fields): OutputHandler | null {
  const agent = fields.requiredText("agent_id", agentKey);
  const rest = {
    input_template: readTemplate(fields, "input_template") ?? "{{output}}",
    timeout_ms: (fields.integer("timeout_seconds", { min: 1, max: 3600 }) ?? 300) * second,
    required: fields.flag("required"),
  };
  if (agent === null) return null;
  return { type: "agent", agent: uuid.test(agent) ? agent.toLowerCase() : agent, ...rest };
}

function readWebhook(fields: Fields): OutputHandler | null {
  const target = readWebTarget(fields);
  const retry = fields.section("retry");
  const rest = {
    body_template: readTemplate(fields, "body_template"),
    timeout_ms: (fields.integer("timeout_seconds", { min: 1, max: 300 }) ?? 30) * second,
    max_attempts: retry.integer("max_attempts", { min: 1, max: 10 }) ?? 3,
    required: fields.flag("required"),
  };
  retry.close();
  return target === null ? null : { type: "webhook", ...target, ...rest };
}
