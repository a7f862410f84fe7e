/** The routes of agents, runtimes and models. */

import { Type } from "@sinclair/typebox";
import { agentSchema } from "../../../actors/agent/manifest/manifest.ts";
import { manifestMediaTypes } from "../../../actors/agent/manifest/parse.ts";
import type { Runtime } from "../../../actors/agent/manifest/runtime/runtimes.ts";
import { invalidField } from "../../../actors/kernel/problem.ts";
import { maxManifestBytes } from "../../../actors/manifest/document.ts";
import type { Models } from "../../adapters/models/port.ts";
import { media } from "../../http/answer.ts";
import { schemaRoute } from "../../http/openapi/document-routes.ts";
import { listSchema, pageOf, pagingQuery } from "../../http/paging.ts";
import { manifestTextTypes, preferredText } from "../../http/preferences.ts";
import { defineRoute, jsonBody, type Method, type Route, rawBody, uuidParam } from "../../http/route.ts";
import {
  AgentDeleted,
  AgentDetail,
  AgentElement,
  AgentFilter,
  Deployed,
  DeployQuery,
  DryRun,
  ManifestBody,
  ModelList,
  PatchBody,
  Patched,
  PatchQuery,
  RollbackRequest,
  RuntimeList,
  ScopeChanged,
  ScopeRequest,
  VersionList,
} from "./schema.ts";
import type { Agents } from "./service.ts";

const agentId = Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") });
const mergePatch = "application/merge-patch+json";
const Version = Type.Optional(Type.String({ maxLength: 64 }));

/** Of a manifest that is deployed or changed. */
const manifestRefusals = [
  "quota_exceeded",
  "global_scope_forbidden",
  "security_context_forbidden",
  "agent_version_exists",
  "invalid_manifest",
  "unsupported_field",
  "unsupported_api_version",
  "unsupported_runtime",
  "unsupported_isolation",
  "unqualified_image",
  "image_not_allowed",
  "reserved_env",
  "invalid_schema",
  "bootstrap_path_forbidden",
  "unsupported_volume_type",
  "volume_type_forbidden",
  "open_egress_forbidden",
  "invalid_host_pattern",
  "unsupported_output_handler",
  "unsupported_destination",
  "invalid_template",
  "unknown_model_alias",
  "unknown_tool",
  "unknown_security_context",
  "secret_forbidden",
  "credential_forbidden",
  "secrets_unavailable",
] as const;

export function agentRoutes(agents: Agents): readonly Route[] {
  return [
    schemaRoute("/schemas/agent.json", "The JSON Schema of agents' manifests", agentSchema),
    defineRoute({
      method: "POST",
      path: "/v1/agents",
      summary: "Deploy a manifest as a new agent, a new version or a new revision",
      scope: "agent:deploy",
      query: DeployQuery,
      body: rawBody({ accepts: manifestMediaTypes, limit: maxManifestBytes, schema: ManifestBody }),
      responses: { 200: Type.Union([Deployed, DryRun]) },
      refusals: [...manifestRefusals],
      handler: (call) => agents.deploy(call, { mediaType: call.body.mediaType, text: call.body.text() }, call.query),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/agents",
      summary: "The tenant's agents and the global ones, by name",
      scope: "agent:list",
      query: Type.Composite([AgentFilter, Type.Object(pagingQuery)]),
      responses: { 200: listSchema("agents", AgentElement) },
      handler: (call) => agents.list(call.tenant, call.query, pageOf(call.query, 2)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/agents/lookup/:name",
      summary: "One agent by its name; the tenant's own shadows a global one",
      scope: "agent:read",
      params: Type.Object({ name: Type.String() }),
      responses: { 200: AgentDetail },
      refusals: ["agent_not_found"],
      handler: (call) => agents.detail(call, { name: call.params.name }, null),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/agents/:id",
      summary: "One agent with its manifest; the manifest alone when the reader prefers YAML",
      scope: "agent:read",
      params: agentId,
      query: Type.Object({ version: Version }),
      responses: { 200: Type.Union([AgentDetail, media(...manifestTextTypes)]) },
      refusals: ["agent_not_found", "agent_version_not_found"],
      handler: async (call) => {
        const detail = await agents.detail(call, { id: call.params.id }, call.query.version ?? null);
        const text = preferredText(call.request.headers.get("accept"));
        if (text === null) return detail;
        return new Response(detail.manifest_yaml, { headers: { "Content-Type": `${text}; charset=utf-8` } });
      },
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/agents/:id",
      summary: "Change an agent by a whole manifest, a JSON merge patch of it, or single fields (merged likewise)",
      scope: "agent:deploy",
      params: agentId,
      query: PatchQuery,
      body: rawBody({ accepts: [...manifestMediaTypes, mergePatch], limit: maxManifestBytes, schema: PatchBody }),
      responses: { 200: Type.Union([Patched, DryRun]) },
      refusals: [...manifestRefusals, "agent_not_found", "agent_archived", "immutable_field"],
      handler: (call) => {
        const { mediaType } = call.body;
        const source = { mediaType: mediaType === mergePatch ? "application/json" : mediaType, text: call.body.text() };
        return agents.patch(call, call.params.id, source, call.query.dry_run);
      },
    }),
    ...(["POST", "PATCH"] as const).map((method) => scopeRoute(agents, method)),
    ...(["pause", "resume"] as const).map((verb) =>
      defineRoute({
        method: "POST",
        path: `/v1/agents/:id/${verb}`,
        summary:
          verb === "pause"
            ? "Start no more executions of an agent; running ones continue"
            : "Let a paused or archived agent be executed again",
        scope: "agent:deploy",
        params: agentId,
        responses: { 200: AgentDetail },
        refusals: ["global_scope_forbidden", "agent_not_found", "agent_archived"],
        handler: (call) => agents.setStatus(call, call.params.id, verb === "pause" ? "paused" : "active"),
      }),
    ),
    defineRoute({
      method: "POST",
      path: "/v1/agents/:id/rollback",
      summary: "Make an older version current again; without a body the one that was current before",
      scope: "agent:deploy",
      params: agentId,
      body: jsonBody(RollbackRequest, { optional: true }),
      responses: { 200: AgentDetail },
      refusals: [
        "global_scope_forbidden",
        "agent_not_found",
        "agent_version_not_found",
        "already_current",
        "secret_forbidden",
        "credential_forbidden",
        "volume_type_forbidden",
      ],
      handler: (call) => {
        const { version = null, revision = null } = call.body;
        return agents.rollback(call, call.params.id, { version, revision });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/agents/:id",
      summary: "Delete an agent; its unfinished executions are cancelled, all records of executions remain",
      scope: "agent:delete",
      params: agentId,
      responses: { 200: AgentDeleted },
      refusals: ["global_scope_forbidden", "agent_not_found"],
      handler: async (call) => {
        const { id } = call.params;
        await agents.remove(call, id);
        return { status: "deleted", success: true, id, agent_id: id };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/agents/:id/versions",
      summary: "Every version deployed of an agent, newest first",
      scope: "agent:read",
      params: agentId,
      query: Type.Object({
        limit: pagingQuery.limit,
        offset: pagingQuery.offset,
        revisions: Type.Boolean({ default: false }),
      }),
      responses: { 200: VersionList },
      refusals: ["agent_not_found"],
      handler: async (call) => {
        const versions = await agents.versions(call, call.params.id, call.query.revisions, pageOf(call.query, 0));
        return { versions, items: versions, count: versions.length };
      },
    }),
  ];
}

function scopeRoute(agents: Agents, method: Method): Route {
  return defineRoute({
    method,
    path: "/v1/agents/:id/scope",
    summary: "Open an agent to every tenant, or give it back to the one it came from",
    scope: "agent:deploy",
    params: agentId,
    body: jsonBody(ScopeRequest),
    responses: { 200: ScopeChanged },
    refusals: [
      "global_scope_forbidden",
      "agent_not_found",
      "agent_name_conflict",
      "secret_forbidden",
      "credential_forbidden",
      "volume_type_forbidden",
    ],
    handler: (call) => {
      const scope = call.body.scope ?? call.body.target_scope;
      if (scope !== undefined) return agents.setScope(call, call.params.id, scope);
      throw invalidField("scope", "is required");
    },
  });
}

/** What manifests may name: the runtimes and the model aliases of this node. */
export function catalogueRoutes(runtimes: readonly Runtime[], models: Pick<Models, "aliases">): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/runtimes",
      summary: "The runtimes a manifest may name by language and version",
      scope: "agent:read",
      query: Type.Object({ language: Type.Optional(Type.String()) }),
      responses: { 200: RuntimeList },
      handler: ({ query }) => {
        const items = runtimes
          .filter((runtime) => query.language === undefined || runtime.language === query.language)
          .map(({ bootstrapEnv: _, ...shown }) => shown);
        return { items, count: items.length };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/models",
      summary: "The model aliases a manifest may name",
      scope: "agent:read",
      responses: { 200: ModelList },
      handler: () => {
        const items = models.aliases().map(({ alias, capabilities, context_window, max_output_tokens }) => ({
          alias,
          capabilities,
          context_window,
          max_output_tokens,
        }));
        return { items, count: items.length };
      },
    }),
  ];
}
