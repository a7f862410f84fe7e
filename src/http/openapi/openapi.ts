/** The API document: generated from the declared routes, whose TypeBox schemas are JSON Schema already. */
import { Type } from "@sinclair/typebox";
import { problems } from "../../../actors/kernel/problem.ts";
import { asWritten } from "../../../actors/kernel/schema.ts";
import type { Route } from "../route.ts";
import { commonComponents, requestId } from "./common.ts";
import { Components, type NamedSchemas } from "./components.ts";
import { type Operation, operation } from "./operation.ts";
import { entryCodes } from "./refusals.ts";
import { tagDescriptions } from "./tags.ts";

export type { Operation } from "./operation.ts";
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

export interface DocumentInfo {
  readonly version: string;
  readonly publicUrl: string;
  /** Schemas that clients know by a name. */
  readonly schemas?: NamedSchemas;
}

/** OpenAPI 3.1 of every route that is not hidden. */
export function openApiDocument(routes: readonly Route[], info: DocumentInfo) {
  const components = new Components({ Error: ErrorBody, ...info.schemas }, asWritten);
  const shown = routes.filter(({ hidden }) => !hidden);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of shown) {
    const path = route.path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const refusal = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: info.version,
      description: "Durable execution of AI agents.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: info.publicUrl }],
    tags: [...new Set(shown.map(({ tag }) => tag))].map((name) => ({ name, ...describedBy(tagDescriptions[name]) })),
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
      ...commonComponents,
      responses: {
        Refusal: {
          description: `Any other refusal; of every operation: ${entryCodes.map((code) => `\`${code}\` (${problems[code]})`).join(", ")}`,
          headers: requestId,
          content: refusal,
        },
      },
      schemas: used({ paths, refusal }, components.schemas),
    },
  };
}

const describedBy = (description: string | undefined) => (description === undefined ? {} : { description });

/** The components that the document refers to, and those that these refer to. */
function used(document: unknown, schemas: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (kept.has(name)) continue;
      if (schemas[name] === undefined) throw new Error(`the API document refers to an unknown schema ${name}`);
      kept.add(name);
      visit(schemas[name]);
    }
  };
  visit(document);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => kept.has(name)));
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
