/** The operations of the API document, as something that calls all of them sees them. */

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly anyOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly method: string;
  /** Such as `/v1/agents/{id}`. */
  readonly path: string;
  readonly inPath: readonly Parameter[];
  readonly inQuery: readonly Parameter[];
  /** The example of its JSON body; undefined: it has none. */
  readonly example: unknown;
  readonly isStream: boolean;
}

interface Described {
  readonly security: readonly object[];
  readonly parameters?: readonly (Parameter & { readonly in: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Every operation that needs a caller. */
export async function operationsOf(url: string): Promise<readonly Operation[]> {
  const answer = await fetch(`${url}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, { parameters = [], requestBody, responses }]): Operation => {
        const bodies = requestBody?.content ?? {};
        return {
          method: method.toUpperCase(),
          path,
          inPath: parameters.filter((one) => one.in === "path"),
          inQuery: parameters.filter((one) => one.in === "query"),
          example: (bodies["application/json"] ?? bodies["*/*"])?.example,
          isStream: responses["200"]?.content?.["text/event-stream"] !== undefined,
        };
      }),
  );
}

/** A value that the schema takes, for a parameter that names no record. */
function plainValue({ schema }: Parameter): string {
  const { type, enum: choices, const: only, default: usual, minimum, anyOf } = schema;
  const [first] = anyOf ?? [];
  const value = only ?? choices?.[0] ?? usual ?? first?.const;
  if (value !== undefined) return String(value);
  return type === "integer" || type === "number" ? String(minimum ?? 1) : "report.txt";
}

/** Whether a parameter names a record of a tenant. */
export const isReference = ({ name, schema }: Parameter): boolean =>
  schema.type !== "integer" && name !== "path" && name !== "number" && !schema.enum;

/**
 * The target of a request: its path, with the parameters that it must have.
 * @param given values by name, of the path and of the query
 */
export function targetOf({ path, inPath, inQuery }: Operation, given: Readonly<Record<string, string>>): string {
  const filled = inPath.reduce(
    (text, parameter) =>
      text.replace(`{${parameter.name}}`, encodeURIComponent(given[parameter.name] ?? plainValue(parameter))),
    path,
  );
  const query = new URLSearchParams();
  for (const parameter of inQuery) {
    const value = given[`?${parameter.name}`] ?? (parameter.required ? plainValue(parameter) : undefined);
    if (value !== undefined) query.set(parameter.name, value);
  }
  if (inQuery.some(({ name }) => name === "follow")) query.set("follow", "false");
  return query.size === 0 ? filled : `${filled}?${query}`;
}
