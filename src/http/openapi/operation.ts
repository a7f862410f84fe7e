/** One route as an operation of the API document. */
import { KindGuard, type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { ProblemCode } from "../../../actors/kernel/problem.ts";
import { asWritten, mustBeWritten } from "../../../actors/kernel/schema.ts";
import { mediaTypesOf, streamedBy, withoutMedia } from "../answer.ts";
import type { Route } from "../route.ts";
import type { Components } from "./components.ts";
import { exampleOf } from "./examples.ts";
import { byStatus, refusalsOf } from "./refusals.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
}

export interface Content {
  readonly schema?: unknown;
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, Content> };
  readonly responses: Record<string, { readonly description: string; readonly content?: Record<string, Content> }>;
}

export function operation(route: Route, components: Components): Operation {
  const body = requestBody(route, components);
  const scopes = route.scope === null ? [] : typeof route.scope === "string" ? [route.scope] : route.scope.anyOf;
  const bearer = [{ bearer: scopes }, ...(route.sse ? [{ queryToken: scopes }] : [])];
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    ...(scopes.length > 0 ? { description: `Scope: ${scopes.join(" or ")}` } : {}),
    // An empty requirement is a request without a token.
    security: route.public ? (route.identifies === null ? [] : [...bearer, {}]) : bearer,
    parameters: [
      ...pathParameters(route, components),
      ...namedParameters("query", route.query, components),
      ...namedParameters("header", route.headers, components),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: { ...answers(route, components), ...refusals(route) },
  };
}

/** From method and path, so that it is unique and stays: `getAgentsByIdVersions`. The version prefix is left out. */
function operationIdOf({ method, path }: Route): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== "v1");
  const words = parts.flatMap((part) =>
    part === "*" ? ["By", "path"] : part.startsWith(":") ? ["By", part.slice(1)] : [part],
  );
  return (
    method.toLowerCase() +
    words
      .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
      .map(capitalized)
      .join("")
  );
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function pathParameters({ path, params }: Route, components: Components): Parameter[] {
  const names = path.split("/").flatMap((part) => (part === "*" ? ["*"] : part.startsWith(":") ? [part.slice(1)] : []));
  return names.map((name) => ({
    name: name === "*" ? "path" : name,
    in: "path",
    required: true,
    schema: components.refer(params?.properties[name] ?? Type.String()),
  }));
}

function namedParameters(place: "query" | "header", schema: TObject | null, components: Components): Parameter[] {
  if (!schema) return [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: mustBeWritten(schema, name),
    ...(typeof property.description === "string" ? { description: property.description } : {}),
    schema: components.refer(property),
  }));
}

function requestBody({ body }: Route, components: Components): Operation["requestBody"] | null {
  if (!body) return null;
  const written = asWritten(body.schema ?? Type.String({ format: "binary" }));
  const schema = components.refer(written);
  const types = body.kind === "json" ? ["application/json"] : (body.accepts ?? ["*/*"]);
  // Where only bytes are described, no example could be right.
  const example = body.schema === null ? {} : { example: exampleOf(written) };
  const isJson = (type: string) => type === "application/json" || type === "*/*";
  const content = types.map((type) => [type, { schema, ...(isJson(type) ? example : {}) }] as const);
  const required = body.kind === "raw" || !body.optional || hasRequired(written);
  return { required, content: Object.fromEntries(content) };
}

const hasRequired = (schema: TSchema): boolean => KindGuard.IsObject(schema) && (schema.required ?? []).length > 0;

function answers(route: Route, components: Components): Operation["responses"] {
  const declared = Object.entries(route.responses).map(([status, schema]) => [
    status,
    { description: description(schema), content: contentOf(schema, components) },
  ]);
  return Object.fromEntries(declared);
}

/** Media type → schema. Of a stream the schema is that of the data of one event. */
function contentOf(schema: TSchema, components: Components): Record<string, Content> {
  const json = withoutMedia(schema);
  const streamed = streamedBy(schema);
  const others = mediaTypesOf(schema).map((type) => [
    type,
    streamed === null ? {} : { schema: components.refer(streamed) },
  ]);
  return {
    ...(json === null ? {} : { "application/json": { schema: components.refer(json), example: exampleOf(json) } }),
    ...Object.fromEntries(others),
  };
}

const description = (schema: TSchema): string =>
  typeof schema.description === "string" ? schema.description : "Success";

/** A status that the route answers with itself keeps its own description. */
function refusals(route: Route): Operation["responses"] {
  const own = new Set(Object.keys(route.responses).map(Number));
  const told = [...byStatus(refusalsOf(route))].filter(([status]) => !own.has(status));
  return {
    ...Object.fromEntries(told.map(([status, codes]) => [status, refusal(codes)])),
    default: { $ref: "#/components/responses/Refusal" } as never,
  };
}

function refusal(codes: readonly ProblemCode[]): Operation["responses"][string] {
  const [code] = codes;
  return {
    description: codes.map((each) => `\`${each}\``).join(", "),
    content: {
      "application/json": {
        schema: {
          allOf: [{ $ref: "#/components/schemas/Error" }, { type: "object", properties: { code: { enum: codes } } }],
        },
        example: { error: "What is wrong, for people", code, request_id: "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11" },
      },
    },
  };
}
