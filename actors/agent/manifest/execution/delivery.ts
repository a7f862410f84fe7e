/** `spec.execution.delivery` and `spec.output_handler`: where an output goes once it is accepted. */

import { headers, method, offered, second, secret, template, webUrl } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, flag, integer, list, text } from "../../../manifest/shape.ts";
import { agentKey, folded } from "../metadata.ts";
import type { Delivery, OutputHandler } from "./results.ts";

const destination = object({
  name: text({ min: 1, max: 128 }),
  condition: choice("on_success", "on_failure", "always").or("on_success"),
  url: webUrl.required(),
  method,
  headers,
  secret,
});

const destinations = list(
  variants(
    "type",
    {
      type: choice("webhook", "rest", "email", "sms", "transform")
        .check(offered(["webhook", "rest"], "unsupported_destination"))
        .required(),
    },
    { webhook: destination, rest: destination },
    (read, { type }) => ({ ...read, type }),
  ).as(({ type, url, ...read }, _scope, _fields, position): Delivery | null =>
    url === null ? null : { ...read, url, name: read.name ?? `${type}-${Number(position) + 1}` },
  ),
  16,
);

export const delivery = object({ destinations }).build((read) => read.destinations ?? []);

/** Of the two types of output handlers that are offered. */
export const handlerType = choice("agent", "webhook", "container", "mcp_tool")
  .check(offered(["agent", "webhook"], "unsupported_output_handler"))
  .required();
export const handlerTimeout = (max: number, standard: number) =>
  integer(1, max)
    .or(standard)
    .as((seconds) => seconds * second);
export const handlerRetry = object({ max_attempts: integer(1, 10).or(3) });

export const outputHandler = variants(
  "type",
  { type: handlerType },
  {
    agent: object({
      agent_id: text(agentKey).required(),
      input_template: template.or("{{output}}"),
      timeout_seconds: handlerTimeout(3600, 300),
      required: flag(),
    }).build(({ agent_id, input_template, timeout_seconds, required }): OutputHandler | null =>
      agent_id === null
        ? null
        : { type: "agent", agent: folded(agent_id), input_template, timeout_ms: timeout_seconds, required },
    ),
    webhook: object({
      url: webUrl.required(),
      method,
      headers,
      retry: handlerRetry.section(),
      body_template: template,
      timeout_seconds: handlerTimeout(300, 30),
      required: flag(),
    }).build(({ url, retry, timeout_seconds, ...read }): OutputHandler | null =>
      url === null
        ? null
        : { type: "webhook", url, ...read, timeout_ms: timeout_seconds, max_attempts: retry.max_attempts },
    ),
  },
);
