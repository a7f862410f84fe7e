/** `output_handler` of a state: what its output goes through before it is the result's. */
import { handlerRetry, handlerTimeout, handlerType } from "../../../agent/manifest/execution/delivery.ts";
import type { OutputHandler } from "../../../agent/manifest/execution/results.ts";
import { headers, method } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { flag } from "../../../manifest/shape.ts";
import { agentReference, type Reading, template, urlTemplate } from "../members.ts";

export const outputHandler = variants(
  "type",
  { type: handlerType },
  {
    agent: object({
      agent_id: agentReference,
      input_template: template.or("{{output}}"),
      timeout_seconds: handlerTimeout(3600, 300),
      required: flag(),
    })
      .strict("an agent output handler")
      .build(
        ({ agent_id, timeout_seconds, ...read }): OutputHandler => ({
          type: "agent",
          agent: agent_id,
          ...read,
          timeout_ms: timeout_seconds,
        }),
      ),
    webhook: object({
      headers: headers.as((headers, { templates }: Reading, fields, key) => {
        for (const [name, value] of Object.entries(headers)) templates.check(fields, `${key}.${name}`, value);
        return headers;
      }),
      retry: handlerRetry.strict("the retry of a webhook").section(),
      url: urlTemplate,
      method,
      body_template: template,
      timeout_seconds: handlerTimeout(300, 30),
      required: flag(),
    })
      .strict("a webhook output handler")
      .build(
        ({ retry, timeout_seconds, ...read }): OutputHandler => ({
          type: "webhook",
          ...read,
          timeout_ms: timeout_seconds,
          max_attempts: retry.max_attempts,
        }),
      ),
  },
).named("OutputHandler");
