/** The list of tools, for callers who are about to sign calls. */
import { type Static, Type } from "@sinclair/typebox";
import { execution } from "../../../../actors/execution/execution.ts";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { Nullable } from "../../../../actors/kernel/schema.ts";
import { JsonText } from "../../../http/answer.ts";
import { listSchema, listText, pageOf, pagingQuery } from "../../../http/paging.ts";
import { type Call, definePublicRoute, defineRoute, type PublicCall } from "../../../http/route.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Runtime } from "../../../runtime/port.ts";
import {
  carriesToken,
  type ExecutionIdentity,
  type ExecutionTokens,
  identify,
  invalidToken,
  pathPrefix,
} from "../../execution-tokens/port.ts";
import type { Plans } from "../../executions/port.ts";
import type { Pipeline } from "../../pipeline/port.ts";
import type { ContextReader } from "../../security-contexts/port.ts";
import type { RegisteredTool, ToolRegistry } from "../../tools/port.ts";
import { runningInstance } from "../sessions/projection.ts";
import { listedText } from "./listed.ts";

/** A tool as callers read it. */
export const ListedTool = Type.Object({
  name: Type.String(),
  aliases: Type.Array(Type.String()),
  description: Type.String(),
  inputSchema: AnyJson,
  input_schema: AnyJson,
  outputSchema: Type.Optional(AnyJson),
  annotations: Type.Object({
    readOnlyHint: Type.Boolean(),
    destructiveHint: Type.Boolean(),
    idempotentHint: Type.Boolean(),
    openWorldHint: Type.Boolean(),
  }),
  source: Type.Union([Type.Literal("builtin"), Type.Literal("management"), Type.Literal("mcp"), Type.Literal("edge")]),
  server: Type.Optional(Type.String()),
  executor: Type.Union([Type.Literal("sandbox"), Type.Literal("server"), Type.Literal("edge")]),
  fleetCapable: Type.Optional(Type.Boolean({ description: "Edge hosts have it, too" })),
});

const ToolsQuery = Type.Object({
  ...pagingQuery,
  q: Type.Optional(Type.String({ maxLength: 200, description: "Part of a name or a description" })),
  source: Type.Optional(Type.String({ maxLength: 32 })),
  security_context: Type.Optional(Type.String({ maxLength: 256, description: "Leaves out what it refuses by name" })),
});

const contextHeader = "x-svc-security-context";

const ToolsBody = Type.Composite([
  listSchema("tools", ListedTool),
  Type.Object({
    protocol: Type.Literal("seal/v1"),
    attestation_endpoint: Type.String(),
    invoke_endpoint: Type.String(),
    security_context: Nullable(Type.String()),
  }),
]);

export interface ToolRoutesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Pick<Plans, "of">;
  readonly tokens: Pick<ExecutionTokens, "verify">;
  readonly contexts: Pick<ContextReader, "exists" | "mayUse" | "defaultOf">;
  readonly tenants: Pick<Tenants, "find">;
  readonly pipeline: Pick<Pipeline, "effective">;
  readonly registry: Pick<ToolRegistry, "of">;
  /** Without a slash at its end. */
  readonly publicUrl: string;
}

interface Shown {
  readonly tools: readonly RegisteredTool[];
  readonly context: string | null;
}

type ToolsCall = Pick<PublicCall<unknown, { security_context?: string }, unknown, unknown>, "request" | "query">;

export function toolRoutes(options: ToolRoutesOptions) {
  const { runtime, plans, contexts, tenants, pipeline, registry } = options;

  /** @throws Problem 403, 404 */
  async function ofCaller(caller: Pick<Call, "identity" | "tenant">, call: ToolsCall): Promise<Shown> {
    const { identity, tenant } = caller;
    const context = namedBy(call);
    if (context === null) return { tools: (await registry.of(tenant)).listed, context };
    if (!(await contexts.exists(tenant, context))) throw notFound(context);
    const tier = (await tenants.find(tenant))?.standing.tier ?? "free";
    if (!(await contexts.mayUse(tenant, context, identity, tier))) throw forbidden(context);
    const who = { execution: null, sessionId: null, principal: "", starter: null, opener: identity, user: null };
    const policy = { context, ceilings: [], tools: null, patterns: null };
    return { tools: await pipeline.effective(tenant, who, policy), context };
  }

  /** @throws Problem 401, 403, 404 */
  async function ofInstance({ tenant, executionId, instanceId }: ExecutionIdentity, call: ToolsCall): Promise<Shown> {
    const state = await runtime.of(execution).at(tenant, executionId).read();
    if (state === null || runningInstance(state) !== instanceId) throw invalidToken();
    const { header } = state;
    const context = header.security_context ?? (await contexts.defaultOf(tenant));
    const named = namedBy(call);
    if (named !== null && named !== context) {
      throw (await contexts.exists(tenant, named)) ? forbidden(named) : notFound(named);
    }
    const plan = await plans.of({ kind: execution.kind, key: executionId, tenant });
    const who = {
      ...{ execution: null, sessionId: null, principal: executionId, opener: null, user: null },
      starter: header.starter ?? null,
    };
    const policy = {
      ...{ context, ceilings: header.context_ceilings ?? [], patterns: null },
      tools: plan.calls?.grants ?? plan.tools.map(({ name }) => ({ name, skip_judge: false })),
    };
    return { tools: await pipeline.effective(tenant, who, policy), context };
  }

  const common = {
    method: "GET",
    path: "/v1/seal/tools",
    summary: "The tools that there are, or that a security context lets be called",
    tag: "seal",
    query: ToolsQuery,
    headers: Type.Object({
      [contextHeader]: Type.Optional(Type.String({ description: "As the query's security_context, and before it" })),
    }),
    responses: { 200: ToolsBody },
    refusals: ["security_context_not_found", "security_context_forbidden", "invalid_token"],
  } as const;

  const body = (
    { tools, context }: Shown,
    { query }: { readonly query: { q?: string; source?: string; limit?: number; offset?: number; cursor?: string } },
    base: string,
  ) => {
    const page = pageOf(query, 1);
    const [after = null] = page.after ?? [];
    const text = query.q?.toLowerCase();
    const found = tools
      .filter(({ source }) => query.source === undefined || source === query.source)
      .filter(
        ({ name, description }) =>
          text === undefined || name.toLowerCase().includes(text) || description.toLowerCase().includes(text),
      )
      .toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1))
      .filter(({ name }) => after === null || name > after)
      .slice(page.offset, page.offset + page.limit + 1);
    const shown = found.slice(0, page.limit);
    const last = found.length > page.limit ? shown.at(-1) : undefined;
    const list = listText("tools", shown.map(listedText), last === undefined ? null : [last.name]);
    const head = JSON.stringify({
      protocol: "seal/v1",
      attestation_endpoint: `${base}/v1/seal/attest`,
      invoke_endpoint: `${base}/v1/seal/invoke`,
      security_context: context,
    });
    return new JsonText<Static<typeof ToolsBody>>(`${head.slice(0, -1)},${list.text.slice(1)}`);
  };

  return {
    route: defineRoute({
      ...common,
      scope: "agent:read",
      handler: async (call) => body(await ofCaller(call, call), call, options.publicUrl),
    }),
    internalRoute: definePublicRoute({
      ...common,
      prove: ({ request }): Promise<ExecutionIdentity | null> =>
        carriesToken(request) ? identify(options.tokens, { request }, true) : Promise.resolve(null),
      identifies: ({ request }) => !carriesToken(request),
      scope: "agent:read",
      async handler(call) {
        const base = call.url.origin + pathPrefix(call.request);
        if (call.proof !== null) return body(await ofInstance(call.proof, call), call, base);
        if (call.caller === null) throw new Error("unreachable: who has no execution token was identified");
        return body(await ofCaller(call.caller, call), call, base);
      },
    }),
  };
}

function namedBy({ request, query }: ToolsCall): string | null {
  const named = request.headers.get(contextHeader)?.trim() || query.security_context?.trim();
  return named ? named : null;
}

const notFound = (name: string) => new Problem("security_context_not_found", `There is no security context ${name}`);
const forbidden = (name: string) =>
  new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
