/** Kinds of members that manifests of agents and of workflows share. */

import { readPattern } from "../policy/filesystem/pattern.ts";
import { compile, TemplateError } from "../template/template.ts";
import { schemaFault } from "./json-schema/json-schema.ts";
import { readBytes, readDuration, readMillicores } from "./quantities.ts";
import { isReference, readReference } from "./references.ts";
import {
  anything,
  choice,
  type Fault,
  type JsonSchema,
  type MeasureBounds,
  measure,
  type Notation,
  number,
  pairs,
  type Shape,
  text,
} from "./shape.ts";

/** The value as far as a state or a judge counts: above 0. */
export const weight = number(0, 1_000_000)
  .check((value) => (value === 0 ? "must be above 0" : null))
  .or(1);

export const second = 1000;
export const hour = 3600 * second;
export const Mi = 2 ** 20;
export const Gi = 2 ** 30;
export const Ti = 2 ** 40;

const apiVersions = ["svc.dev/v1", "100monkeys.ai/v1"];

/** What every manifest begins with. */
export const head = (kind: string) => ({
  apiVersion: text()
    .check((version) =>
      apiVersions.includes(version) ? null : [`must be one of ${apiVersions.join(", ")}`, "unsupported_api_version"],
    )
    .schema({ enum: apiVersions })
    .required(),
  kind: choice(kind).required(),
});

/** A rule: only some of the known values work here. */
export const offered =
  (values: readonly string[], code: string) =>
  (value: string): Fault =>
    values.includes(value) ? null : [`${value} is not offered here`, code];

/** A member that is refused wherever it stands. */
export const unsupported = (message: string): Shape<unknown> =>
  anything.check(() => [message, "unsupported_field"]).schema({ not: {} });

const notHere = "is not supported by this version of the service";

/** A rule of texts that hold no references, so that none is taken for the text that it means. */
export const noReference = (value: string, ...prefixes: readonly string[]): Fault =>
  isReference(value) || prefixes.some((prefix) => value.startsWith(prefix)) ? [notHere, "unsupported_field"] : null;

/** A rule of texts that may be references: one that is meant as such is a good one. */
export function referenceFault(value: string): Fault {
  const read = isReference(value) ? readReference(value) : null;
  return typeof read === "string" ? read : null;
}

export const secret = text({ min: 1, max: 1024 }).check((value) => noReference(value));

/** An id of this service. */
export const uuid = {
  pattern: /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/,
  form: "an id",
};

/** A JSON Schema of the tenant's own. */
const schemaShape: JsonSchema = { type: ["object", "boolean"] };
/** One that is checked elsewhere. */
export const uncheckedSchema = anything.schema(schemaShape);
export const jsonSchema = anything
  .check((schema) => {
    const fault = schemaFault(schema);
    return fault === null ? null : [fault, "invalid_schema"];
  })
  .schema(schemaShape);

/** Of one template. */
export const maxTemplateCharacters = 100_000;

/** Why a text cannot be read as a template; null when it can. */
export function templateFault(source: string): string | null {
  try {
    compile(source);
    return null;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error.message.slice(0, 300);
  }
}

/** A template's text. Nothing is rendered here. */
export const template = text({ max: maxTemplateCharacters }).check((source) => {
  const fault = templateFault(source);
  return fault === null ? null : [fault, "invalid_template"];
});

/** A text of at most so many bytes of UTF-8. */
export const kibibytes = (max: number, shape = text()): Shape<string | null> =>
  shape.check((value) => (Buffer.byteLength(value) > max * 1024 ? `may have at most ${max} KiB` : null));

const seconds: Notation = {
  read: readDuration,
  what: "a duration such as 90, 90s, 10m, 1h30m or 2d",
  schema: {
    anyOf: [
      { type: "integer", minimum: 0 },
      { type: "string", pattern: "^(?:\\d{1,15}|(?=.)(?:\\d{1,9}d)?(?:\\d{1,9}h)?(?:\\d{1,9}m)?(?:\\d{1,9}s)?)$" },
    ],
  },
};
const bytes: Notation = {
  read: readBytes,
  what: "bytes such as 1048576, 512Mi, 2Gi or 1.5G",
  schema: {
    anyOf: [
      { type: "integer", minimum: 0 },
      { type: "string", pattern: "^\\d{1,15}(?:\\.\\d{1,6})?(?:[KMGT]i?)?$" },
    ],
  },
};
const millicores: Notation = {
  read: readMillicores,
  what: "a share of processors such as 500 or 500m (half of one) or 1.5",
  schema: {
    anyOf: [
      { type: "number", minimum: 0 },
      { type: "string", pattern: "^(?:\\d{1,9}m?|\\d{1,6}\\.\\d{1,6})$" },
    ],
  },
};

/** In milliseconds. */
export const duration = <S = unknown>(bounds: MeasureBounds | ((scope: S) => MeasureBounds)) =>
  measure(seconds, bounds);
export const quantity = (min: number, max: number, said: string) => measure(bytes, { min, max, said });
export const cpu = measure(millicores, { min: 50, max: 64_000, said: "50 to 64000 millicores" });
export const memory = quantity(16 * Mi, 256 * Gi, "16Mi to 256Gi");

/** Paths inside an instance without empty and `.` segments and without an end slash; null: `..`, too deep or too long. */
export function normalPath(absolute: string): string | null {
  const path = readPattern(absolute);
  return path === null ? null : `/${path.segments.join("/")}`;
}

/** Control characters have no place in a path that people read in lists, nor have wildcards where a place is meant. */
export const plainPath = { min: 1, max: 1024, pattern: /^\/[^\p{Cc}*]*$/u, form: "an absolute path" };

export const environmentName = {
  min: 1,
  max: 256,
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  form: "letters, digits and _, not beginning with a digit",
};

const headerBounds = {
  key: { min: 1, max: 128, pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, form: "a header name" },
  value: { max: 4096, pattern: /^[\t\x20-\x7e]*$/, form: "printable ASCII" },
};
/** What the sender or the connection decides. */
export const reservedHeader =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|x-svc-.*)$/i;

/** Headers of a request that the service sends. */
export const headers = pairs(64, headerBounds, (name, value) =>
  reservedHeader.test(name) ? "is set by the service" : noReference(value),
);
export const method = choice("POST", "PUT", "PATCH").or("POST");

/** An address that the service sends requests to. */
export const webUrl = text({ min: 1, max: 4096 })
  .check(webUrlFault)
  .as((written) => new URL(written).href);

/** What is wrong with a text as an address to send requests to; null when nothing is. */
export function webUrlFault(written: string): string | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return "must be an http or https address";
  }
  return url.username === "" && url.password === "" ? null : "may not hold a user or a password";
}
