/**
 * What of a request had no effect: members of a JSON body and parameters of a query that the route does not know. They
 * never fail a request, since newer clients send more, but they are told in the answer's `X-Svc-Warnings` header:
 * a JSON list of `{path, code, message}` in ASCII.
 */
import { nearest } from "../../../actors/kernel/nearest.ts";
import { unknownMembers } from "../../../actors/kernel/shape-issues.ts";
import type { RequestWarning, Route } from "../route.ts";

export const warningsHeader = "X-Svc-Warnings";

/** Told of one request; the header stays below 8 KiB. */
const maxWarnings = 16;
/** Characters of a name of the caller's. */
const maxName = 80;

export interface WarningsOf {
  /** @param query null where the URL has none */
  query(query: URLSearchParams | null): readonly RequestWarning[];
  body(value: unknown): readonly RequestWarning[];
}

/** Prepares what a route knows. A query whose schema says `additionalProperties: true` is the reader's own. */
export function warningsOf(route: Pick<Route, "query" | "body" | "sse">): WarningsOf {
  const parameters = new Set([...Object.keys(route.query?.properties ?? {}), ...(route.sse ? ["token"] : [])]);
  const takesAny = route.query?.additionalProperties === true;
  const schema = route.body?.kind === "json" ? route.body.schema : null;
  return {
    query: (query) => {
      if (query === null || takesAny) return [];
      const unknown = [...new Set(query.keys())].filter((name) => !parameters.has(name)).slice(0, maxWarnings);
      return unknown.map((name) =>
        warning(name.slice(0, maxName), "unknown_parameter", "parameter", nearest(name, parameters)),
      );
    },
    body: (value) =>
      schema === null
        ? []
        : unknownMembers(schema, value, maxWarnings).map(({ path, meant }) =>
            warning(path.slice(0, 2 * maxName), "unknown_field", "field", meant),
          ),
  };
}

function warning(path: string, code: RequestWarning["code"], what: string, meant: string | null): RequestWarning {
  const hint = meant === null ? "" : `; did you mean ${meant}?`;
  return { path, code, message: `This ${what} is not known here and has no effect${hint}` };
}

/** Headers carry ASCII: everything else, and what would end a line, is escaped as JSON escapes it. */
export const warningsText = (warnings: readonly RequestWarning[]): string =>
  JSON.stringify(warnings.slice(0, maxWarnings))
    .toWellFormed()
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
