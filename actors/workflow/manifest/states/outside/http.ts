/** The kind of state that asks another service. */
import { isObject, type Json } from "../../../../kernel/json.ts";
import { schemaFault } from "../../../../manifest/json-schema/json-schema.ts";
import {
  maxTemplateCharacters,
  referenceFault,
  reservedHeader,
  second,
  uncheckedSchema,
} from "../../../../manifest/members.ts";
import { object } from "../../../../manifest/object.ts";
import { isReference } from "../../../../manifest/references.ts";
import { choice, list, pairs, Shape } from "../../../../manifest/shape.ts";
import type { HttpState } from "../../../definition/outside-states.ts";
import { type Of, type Reading, templateTree, timeout, urlTemplate } from "../../members.ts";

const headers = pairs(
  64,
  {
    key: { min: 1, max: 128, pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, form: "a header name" },
    value: { max: maxTemplateCharacters, pattern: /^[^\r\n\0]*$/, form: "one line" },
  },
  (name, value, { templates }: Reading, fields, path) => {
    if (reservedHeader.test(name) || /^idempotency-key$/i.test(name)) return "is set by the service";
    if (value.startsWith("credential:"))
      return ["is not supported by this version of the service", "unsupported_field"];
    if (isReference(value)) return referenceFault(value);
    return templates.check(fields, path, value) ? null : false;
  },
);

const codes = /^[1-5]xx$/;
/** A status, or all of a class such as `2xx`. */
const status = new Shape<readonly number[] | null>({
  read: (fields, key) => {
    const written = fields.raw(key);
    if (typeof written === "string" && codes.test(written)) {
      return Array.from({ length: 100 }, (_, at) => Number(written[0]) * 100 + at);
    }
    const isStatus = typeof written === "number" && Number.isInteger(written) && written >= 100 && written <= 599;
    return isStatus ? [written] : fields.issue(key, "must be from 100 to 599, or a class such as 2xx");
  },
  schema: () => ({
    anyOf: [
      { type: "integer", minimum: 100, maximum: 599 },
      { type: "string", pattern: codes.source },
    ],
  }),
  texts: null,
  expected: "must be a status",
});

const expectation = object({
  status: list(status, 64, "must name a status").as((all) => [...new Set(all.flat())].sort((a, b) => a - b)),
  schema: uncheckedSchema.check((schema, { templates }: Reading, fields, key) => {
    if (!templates.spendOnSchema(fields, key, JSON.stringify(schema).length)) return false;
    const fault = schemaFault(schema);
    return fault === null ? null : [fault, "invalid_schema"];
  }),
})
  .strict("an expectation")
  .build(({ status, schema }): HttpState["expect"] => ({ status: status ?? [], schema }));

/** Whether a text anywhere in it is written like a reference to a secret. */
function hasReference(body: Json): boolean {
  if (typeof body === "string") return isReference(body);
  return isObject(body) || Array.isArray(body)
    ? Object.values(body).some((value) => hasReference(value ?? null))
    : false;
}

export const httpState = object({
  timeout,
  url: urlTemplate,
  method: choice("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE").or("GET"),
  headers,
  body: templateTree,
  expect: expectation.section(),
})
  .strict("an Http state")
  .build(({ timeout, body, ...read }, fields): Of<HttpState> => {
    if (body !== null && (read.method === "GET" || read.method === "HEAD")) {
      fields.issue("body", `has no place in a ${read.method} request`);
    }
    if (read.method === "HEAD" && read.expect.schema !== null) {
      fields.issue("expect.schema", "has no place where there is no body");
    }
    if (hasReference(body)) {
      fields.warn("body", "no_effect", "Secrets are resolved in headers alone: this text is sent as it is written");
    }
    return { kind: "Http", timeout_ms: timeout ?? 30 * second, ...read, body };
  });
