/** One route as an operation of the API document. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { ProblemCode } from "../../../actors/kernel/problem.ts";
import { mustBeWritten } from "../../../actors/kernel/schema.ts";
import { streamedBy } from "../answer.ts";
import type { Route } from "../route.ts";
import { answerContent, type Content, type RequestBody, requestBody } from "./bodies.ts";
import { answerHeaders, callerParameters, refusalHeaders } from "./common.ts";
import type { Components } from "./components.ts";
import { byStatus, refusalsOf } from "./refusals.ts";

/** To what many operations share. */
export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Record<string, Content>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Record<string, ResponseObject>;
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
      ...(route.public && route.identifies === null ? [] : callerParameters),
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

function answers(route: Route, components: Components): Operation["responses"] {
  const declared = Object.entries(route.responses).map(([status, schema]) => [
    status,
    {
      description: description(schema),
      headers: answerHeaders(route.rates !== null),
      content: answerContent(schema, components),
    },
  ]);
  return Object.fromEntries(declared);
}

function description(schema: TSchema): string {
  if (typeof schema.description === "string") return schema.description;
  return streamedBy(schema) === null ? "Success" : "A stream of events; the data of each is JSON of this shape";
}

/** A status that the route answers with itself keeps its own description. */
function refusals(route: Route): Operation["responses"] {
  const own = new Set(Object.keys(route.responses).map(Number));
  const told = [...byStatus(refusalsOf(route))].filter(([status]) => !own.has(status));
  return {
    ...Object.fromEntries(told.map(([status, codes]) => [status, refusal(status, codes)])),
    default: { $ref: "#/components/responses/Refusal" } as never,
  };
}

function refusal(status: number, codes: readonly ProblemCode[]): ResponseObject {
  const [code] = codes;
  return {
    description: codes.map((each) => `\`${each}\``).join(", "),
    ...refusalHeaders(status),
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
