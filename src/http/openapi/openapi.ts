/** The API document: generated from the declared routes, whose TypeBox schemas are JSON Schema already. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { problems } from "../../../actors/kernel/problem.ts";
import { asWritten, mustBeWritten } from "../../../actors/kernel/schema.ts";
import { mediaTypesOf, type Route, withoutMedia } from "../route.ts";

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

/** OpenAPI 3.1 of every route that is not hidden. */
export function openApiDocument(
  routes: readonly Route[],
  info: { readonly version: string; readonly publicUrl: string },
) {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    if (route.hidden) continue;
    const path = route.path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "svc", version: info.version, description: "Durable execution of AI agents." },
    servers: [{ url: info.publicUrl }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token of a configured realm." },
        queryToken: {
          type: "apiKey",
          in: "query",
          name: "token",
          description: "The same token; on event streams only.",
        },
      },
      schemas: { Error: publicSchema(ErrorBody) },
    },
  };
}

const ErrorBody = Type.Object({
  error: Type.String({ description: "For people" }),
  code: Type.Union(
    Object.keys(problems).map((code) => Type.Literal(code)),
    { description: "Stable" },
  ),
  request_id: Type.String(),
  issues: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String(), code: Type.String() }))),
});

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { readonly schema: unknown }> };
  readonly responses: Record<string, { readonly description: string; readonly content?: unknown }>;
}

function operation(route: Route): Operation {
  const body = requestBody(route);
  const scopes = route.scope === null ? [] : typeof route.scope === "string" ? [route.scope] : route.scope.anyOf;
  const bearer = [{ bearer: scopes }, ...(route.sse ? [{ queryToken: scopes }] : [])];
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    ...(scopes.length > 0 ? { description: `Scope: ${scopes.join(" or ")}` } : {}),
    security: route.public ? [] : bearer,
    parameters: [
      ...parameters(route.path, route.params),
      ...namedParameters("query", route.query),
      ...namedParameters("header", route.headers),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: responses(route),
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

function parameters(path: string, schema: TObject | null): Parameter[] {
  const names = path.split("/").flatMap((part) => (part === "*" ? ["*"] : part.startsWith(":") ? [part.slice(1)] : []));
  return names.map((name) => ({
    name: name === "*" ? "path" : name,
    in: "path",
    required: true,
    schema: publicSchema(schema?.properties[name] ?? Type.String()),
  }));
}

function namedParameters(place: "query" | "header", schema: TObject | null): Parameter[] {
  if (!schema) return [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    required: mustBeWritten(schema, name),
    ...(typeof property.description === "string" ? { description: property.description } : {}),
    schema: publicSchema(property),
  }));
}

function requestBody({ body }: Route): Operation["requestBody"] | null {
  if (!body) return null;
  if (body.kind === "json") {
    const schema = asWritten(body.schema);
    const required = !body.optional || (schema.required ?? []).length > 0;
    return { required, content: { "application/json": { schema: publicSchema(schema) } } };
  }
  const schema = publicSchema(asWritten(body.schema ?? Type.String()));
  return { required: true, content: Object.fromEntries((body.accepts ?? ["*/*"]).map((type) => [type, { schema }])) };
}

function responses(route: Route): Operation["responses"] {
  const declared = Object.entries(route.responses).map(([status, schema]) => [
    status,
    { description: description(schema), content: contentOf(schema) },
  ]);
  const error = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return { ...Object.fromEntries(declared), default: { description: "Any refusal", content: error } };
}

/** Media type → schema; media that are not JSON have none. */
function contentOf(schema: TSchema): Record<string, unknown> {
  const json = withoutMedia(schema);
  return {
    ...(json === null ? {} : { "application/json": { schema: publicSchema(json) } }),
    ...Object.fromEntries(mediaTypesOf(schema).map((type) => [type, {}])),
  };
}

const description = (schema: TSchema): string =>
  typeof schema.description === "string" ? schema.description : "Success";

/** The schema as JSON: TypeBox's own marks, and ours, stay inside. */
function publicSchema(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (/^x-(code|message)$/.test(name) ? undefined : value)),
  );
}
