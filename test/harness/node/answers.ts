/**
 * Every answer of every app in this process is checked against what its route declares; one that does not fit becomes
 * a 500 that says why, and fails the test. `preload.ts` switches it on for tests, `NodeProcess` for nodes of their own.
 */
import { FormatRegistry, KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type Issue, type ProblemCode, problems } from "../../../actors/kernel/problem.ts";
import { SealRefusalBody } from "../../../src/features/seal/sessions/schema.ts";
import { mediaTypesOf, withoutMedia } from "../../../src/http/answer.ts";
import { inspectAnswers } from "../../../src/http/app.ts";
import { entryCodes, otherStatuses, refusalsOf } from "../../../src/http/openapi/refusals.ts";
import type { Route } from "../../../src/http/route.ts";

FormatRegistry.Set("date-time", (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text));

const mismatches: string[] = [];

/** @throws Error naming the answers that did not fit since the last call */
export function requireFittingAnswers(): void {
  const found = mismatches.splice(0);
  if (found.length > 0) throw new Error(`Answers do not fit their schemas:\n${[...new Set(found)].join("\n")}`);
}

export function checkAnswers(): void {
  inspectAnswers(async (route, request, response) => {
    const isJson = mediaTypeOf(response) === "application/json";
    const bytes = isJson ? new Uint8Array(await response.arrayBuffer()) : null;
    const isPacked = response.headers.get("content-encoding") === "gzip";
    const text = bytes === null ? null : new TextDecoder().decode(isPacked ? Bun.gunzipSync(bytes) : bytes);
    const fault = text === null ? mediaFault(route, response) : jsonFault(route, response, JSON.parse(text));
    if (fault !== null) {
      const message = `${request.method} ${route?.path ?? "unmatched"} ${response.status}: ${fault}`;
      mismatches.push(message);
      console.error(message);
      return Response.json({ error: message, code: "internal_error", request_id: "" }, { status: 500 });
    }
    return bytes === null ? response : new Response(bytes, response);
  });
}

const mediaTypeOf = (response: Response) => response.headers.get("content-type")?.split(";", 1)[0] ?? null;

function jsonFault(route: Route | null, response: Response, body: unknown): string | null {
  const declared = route?.responses[response.status];
  const schema = declared === undefined ? null : withoutMedia(declared);
  if (schema === null)
    return response.status >= 400 ? problemFault(route, response, body) : "the status is not declared";
  const check = checkOf(schema);
  if (check.Check(body)) return null;
  const faults = [...check.Errors(body)].slice(0, 5);
  return faults.map(({ path, message, value }) => `${path || "/"}: ${message}, not ${shown(value)}`).join("; ");
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? "undefined";

/** The shape of every refusal, and whether the route says that it may come. */
function problemFault(route: Route | null, response: Response, body: unknown): string | null {
  // Of signed calls and attestations, by whichever layer they were refused.
  if ((body as { readonly protocol?: unknown }).protocol === "seal/v1") {
    return checkOf(SealRefusalBody).Check(body) ? null : `${shown(body)} is no refusal of a signed call`;
  }
  if (route !== null && route.refusing !== null) return `${shown(body)} is a refusal of the common shape`;
  const { error, code, request_id, issues } = body as Record<string, unknown>;
  if (typeof error !== "string" || typeof code !== "string") return `${shown(body)} is no problem`;
  if (request_id !== response.headers.get("x-request-id")) return `the request id is ${shown(request_id)}`;
  const status = (problems as Readonly<Record<string, number>>)[code];
  if (status === undefined) return `the code ${code} is not in the table`;
  const problem = code as ProblemCode;
  if (response.status !== status && !otherStatuses[problem]?.includes(response.status)) return `${code} is a ${status}`;
  if (route !== null && !mayBeRefusedWith(route).has(problem)) return `the code ${code} is not among its refusals`;
  const isIssue = ({ path, message, code }: Issue) => [path, message, code].every((text) => typeof text === "string");
  return issues === undefined || (Array.isArray(issues) && issues.every(isIssue))
    ? null
    : `${shown(issues)} are no issues`;
}

const refusals = new WeakMap<Route, ReadonlySet<ProblemCode>>();

function mayBeRefusedWith(route: Route): ReadonlySet<ProblemCode> {
  let codes = refusals.get(route);
  if (codes === undefined) {
    codes = new Set([...entryCodes, ...refusalsOf(route)]);
    refusals.set(route, codes);
  }
  return codes;
}

/** What is not JSON must be of a declared media type; an empty answer has none. */
function mediaFault(route: Route | null, response: Response): string | null {
  if (response.body === null) return null;
  const given = mediaTypeOf(response);
  const declared = Object.values(route?.responses ?? {}).flatMap(mediaTypesOf);
  return declared.includes("*/*") || declared.includes(given ?? "") ? null : `the media type ${given} is not declared`;
}

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();

function checkOf(schema: TSchema): TypeCheck<TSchema> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = TypeCompiler.Compile(closed(schema));
    checks.set(schema, check);
  }
  return check;
}

/** The schema with no room for members that are not declared. */
function closed(schema: TSchema): TSchema {
  const copy: Record<string, unknown> & TSchema = { ...schema };
  if (KindGuard.IsUnion(schema)) copy.anyOf = schema.anyOf.map(closed);
  if (KindGuard.IsArray(schema)) copy.items = closed(schema.items);
  if (KindGuard.IsObject(schema)) {
    copy.additionalProperties ??= false;
    copy.properties = mapped((schema as TObject).properties);
  }
  if (KindGuard.IsRecord(schema)) copy.patternProperties = mapped(schema.patternProperties);
  return copy;
}

const mapped = (schemas: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]));
