/** The routes of the records of tool calls. */
import { Type } from "@sinclair/typebox";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route, uuidParam } from "../../http/route.ts";
import type { InvocationReader, StoredInvocation } from "./records.ts";
import { InvocationFilter, InvocationRecord, OneInvocation } from "./schema.ts";

export interface InvocationRoutesOptions {
  readonly invocations: InvocationReader;
  /** Of a call in a loop: what its execution's log has; null: nothing any more. */
  readonly loggedResult: (tenant: string, invocation: StoredInvocation) => Promise<Json>;
  /** Unix ms. */
  readonly now: () => number;
}

/** How long results are shown, and kept. */
export const resultKeptMs = 24 * 3_600_000;

const InvocationId = Type.Object({ id: uuidParam("invalid_invocation_id", "Invalid invocation ID") });

export function invocationRoutes({ invocations, loggedResult, now }: InvocationRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tool-invocations",
      summary: "Calls of tools in the tenant, newest first",
      tag: "tools",
      scope: "execution:read",
      query: InvocationFilter,
      responses: { 200: listSchema("invocations", InvocationRecord) },
      handler: ({ tenant, query }) => invocations.list(tenant, query, pageOf(query, 1)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-invocations/:id",
      summary: "One call of a tool, with its result while that is kept",
      tag: "tools",
      scope: "execution:read",
      params: InvocationId,
      responses: { 200: OneInvocation },
      refusals: ["invocation_not_found"],
      async handler({ tenant, params: { id } }) {
        const found = await invocations.one(tenant, id);
        if (found === null) throw new Problem("invocation_not_found", "There is no such call of a tool");
        const { record, ended_at, in_log } = found;
        const isKept = ended_at !== null && now() - ended_at.getTime() < resultKeptMs;
        if (!isKept) return { ...record, result: null };
        const result = in_log === null ? await invocations.resultOf(tenant, id) : await loggedResult(tenant, found);
        return { ...record, result };
      },
    }),
  ];
}
