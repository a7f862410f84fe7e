/** `output_handler` of a state: what its output goes through before it is the result's. */

import type { OutputHandler } from "../../../execution/start/plan.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { readHeaders, readMethod, webUrlFault } from "../../../manifest/web-request.ts";
import { readAgent } from "../names.ts";
import { second } from "../quantities.ts";
import type { Reading } from "../reading.ts";
import { refuseReferences } from "../secrets.ts";
import { isLiteral, type Templates } from "../templates.ts";

/** @returns null when there is none, and after an issue */
export function readHandler(state: Fields, reading: Reading): OutputHandler | null {
  const fields = state.has("output_handler") ? state.requiredSection("output_handler") : null;
  if (fields === null) return null;
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["agent", "webhook", "container", "mcp_tool"]);
  if (type === null) return null;
  if (type === "container" || type === "mcp_tool") {
    return fields.issue("type", `${type} is not offered here`, "unsupported_output_handler");
  }
  const handler = type === "agent" ? readAgentHandler(fields, reading) : readWebhook(fields, reading);
  fields.closeStrictly(`${type === "agent" ? "an agent" : "a webhook"} output handler`);
  return handler;
}

function readAgentHandler(fields: Fields, reading: Reading): OutputHandler {
  return {
    type: "agent",
    agent: readAgent(fields, "agent_id", reading),
    input_template: reading.templates.optional(fields, "input_template") ?? "{{output}}",
    timeout_ms: (fields.integer("timeout_seconds", { min: 1, max: 3600 }) ?? 300) * second,
    required: fields.flag("required"),
  };
}

function readWebhook(fields: Fields, { templates }: Reading): OutputHandler {
  const headers = readHeaders(fields);
  for (const [name, value] of Object.entries(headers)) templates.check(fields, `headers.${name}`, value);
  refuseReferences(fields, "headers", headers);
  const retry = fields.section("retry");
  const handler: OutputHandler = {
    type: "webhook",
    url: readUrl(fields, templates),
    method: readMethod(fields),
    headers,
    body_template: templates.optional(fields, "body_template"),
    timeout_ms: (fields.integer("timeout_seconds", { min: 1, max: 300 }) ?? 30) * second,
    max_attempts: retry.integer("max_attempts", { min: 1, max: 10 }) ?? 3,
    required: fields.flag("required"),
  };
  retry.closeStrictly("the retry of a webhook");
  return handler;
}

/** A template is looked at with something harmless in the place of its values; what it becomes is judged when sent. */
function readUrl(fields: Fields, templates: Templates): string {
  const written = fields.requiredText("url", { min: 1, max: 4096 });
  if (written === null || !templates.check(fields, "url", written)) return "";
  const fault = isLiteral(written) || !written.startsWith("{{") ? webUrlFault(withoutTags(written)) : null;
  return fault === null ? written : (fields.issue("url", fault) ?? "");
}

const withoutTags = (template: string): string => template.replace(/\{\{[^}]{0,4096}\}{2,4}/g, "1");
