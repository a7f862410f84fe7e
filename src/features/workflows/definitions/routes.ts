/** The routes of workflow definitions. */

import { Type } from "@sinclair/typebox";
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { maxManifestBytes } from "../../../../actors/manifest/document.ts";
import { workflowSchema } from "../../../../actors/workflow/manifest/manifest.ts";
import { media } from "../../../http/answer.ts";
import { schemaRoute } from "../../../http/openapi/document-routes.ts";
import { listSchema, pageOf, pagingQuery } from "../../../http/paging.ts";
import { manifestTextTypes, preferredText, preferredToJson } from "../../../http/preferences.ts";
import { type Call, defineRoute, jsonBody, type Route, rawBody } from "../../../http/route.ts";
import { auditedBy } from "../../audit/port.ts";
import type { Caller } from "./parts.ts";
import {
  Deleted,
  DeleteQuery,
  Judgement,
  ManifestBody,
  Registered,
  RegisterQuery,
  type Scope,
  ScopeChanged,
  ScopeRequest,
  VersionElement,
  VersionQuery,
  VersionsDiff,
  WorkflowDetail,
  WorkflowElement,
  WorkflowFilter,
} from "./schema.ts";
import type { Workflows } from "./service.ts";

/** A name or a UUID; what is neither is unknown. */
const Ref = Type.Object({ ref: Type.String({ maxLength: 200 }) });
const Version = Type.String({ maxLength: 256 });
/** Room for a manifest inside a JSON wrapper, where every character may be escaped. */
const manifestBody = rawBody({
  limit: 2 * maxManifestBytes,
  schema: ManifestBody,
  shown: ["application/json", "application/yaml", "text/plain"],
});

const callerOf = (call: Call): Caller => ({
  identity: call.identity,
  tenant: call.tenant,
  by: auditedBy(call),
  signal: call.signal,
});

export function workflowRoutes(workflows: Workflows): readonly Route[] {
  const register = (path: string) =>
    defineRoute({
      method: "POST",
      path,
      summary: "Register a manifest as a version of a workflow",
      scope: "workflow:deploy",
      query: RegisterQuery,
      body: manifestBody,
      responses: { 200: Registered },
      refusals: [
        "validation_failed",
        "invalid_manifest",
        "global_scope_forbidden",
        "security_context_forbidden",
        "workflow_version_exists",
        "quota_exceeded",
        "secret_forbidden",
        "credential_forbidden",
        "secrets_unavailable",
      ],
      handler: (call) => {
        const { force = null, scope = null } = call.query;
        return workflows.register(callerOf(call), call.body.text(), { force, scope });
      },
    });
  const setScope = (method: "POST" | "PATCH") =>
    defineRoute({
      method,
      path: "/v1/workflows/:ref/scope",
      summary: "Move every version of a workflow to all tenants, or to the caller's own",
      scope: "workflow:deploy",
      params: Ref,
      body: jsonBody(ScopeRequest),
      responses: { 200: ScopeChanged },
      refusals: [
        "workflow_not_found",
        "global_scope_forbidden",
        "workflow_name_taken",
        "secret_forbidden",
        "security_context_forbidden",
        "unknown_security_context",
      ],
      handler: (call) =>
        workflows.setScope(callerOf(call), { ref: call.params.ref, version: null }, requestedScope(call.body)),
    });
  return [
    schemaRoute("/schemas/workflow.json", "The JSON Schema of workflows' manifests", workflowSchema),
    register("/v1/workflows"),
    register("/v1/workflows/temporal/register"),
    defineRoute({
      method: "POST",
      path: "/v1/workflows/validate",
      summary: "Judge a manifest and store nothing",
      scope: "workflow:validate",
      body: manifestBody,
      responses: { 200: Judgement },
      refusals: ["validation_failed"],
      handler: (call) => workflows.validate(call, call.body.text()),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workflows",
      summary: "The tenant's workflows by name, the latest version of each",
      scope: "workflow:list",
      query: WorkflowFilter,
      responses: { 200: listSchema("workflows", WorkflowElement) },
      handler: (call) => workflows.list(call.tenant, call.query, pageOf(call.query, 4)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workflows/:ref",
      summary: "One workflow; the manifest alone when the reader prefers YAML",
      scope: "workflow:read",
      params: Ref,
      query: VersionQuery,
      responses: { 200: Type.Union([WorkflowDetail, media(...manifestTextTypes)]) },
      refusals: ["workflow_not_found"],
      handler: async (call) => {
        const detail = await workflows.detail(call.tenant, referenceOf(call));
        const text = preferredText(call.request.headers.get("accept"));
        return text === null ? detail : manifestText(detail.manifest_yaml, text);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workflows/:ref/yaml",
      summary: "The manifest as it was registered",
      scope: "workflow:read",
      params: Ref,
      query: VersionQuery,
      responses: { 200: media("text/yaml") },
      refusals: ["workflow_not_found"],
      handler: async (call) => {
        const { manifest_yaml } = await workflows.detail(call.tenant, referenceOf(call));
        return manifestText(manifest_yaml, "text/yaml");
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workflows/:ref/versions",
      summary: "The versions of a workflow, newest first",
      scope: "workflow:list",
      params: Ref,
      query: Type.Object(pagingQuery),
      responses: { 200: listSchema("versions", VersionElement) },
      refusals: ["workflow_not_found"],
      handler: (call) => workflows.versions(call.tenant, call.params.ref, pageOf(call.query, 1)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workflows/:ref/versions/:a/diff/:b",
      summary: "How two versions of a workflow differ; as a unified diff when the reader prefers text",
      scope: "workflow:read",
      params: Type.Object({ ...Ref.properties, a: Version, b: Version }),
      responses: { 200: Type.Union([VersionsDiff, media("text/plain")]) },
      refusals: ["workflow_not_found"],
      handler: async (call) => {
        const { ref, a: from, b: to } = call.params;
        const text = preferredToJson(call.request.headers.get("accept"), ["text/plain"]);
        if (text === null) return workflows.difference(call.tenant, { ref, from, to });
        return manifestText(await workflows.unifiedDiff(call.tenant, { ref, from, to }), text);
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/workflows/:ref",
      summary: "Remove a version of a workflow, or all of them; records of its executions stay",
      scope: "workflow:delete",
      params: Ref,
      query: DeleteQuery,
      responses: { 200: Deleted },
      refusals: ["global_scope_forbidden", "workflow_not_found", "workflow_in_use"],
      handler: (call) => workflows.remove(callerOf(call), referenceOf(call), call.query.force ?? false),
    }),
    setScope("POST"),
    setScope("PATCH"),
  ];
}

const referenceOf = ({ params, query }: Call<{ ref: string }, { version?: string }>) => ({
  ref: params.ref,
  version: query.version ?? null,
});

function manifestText(manifest: string, type: string): Response {
  return new Response(manifest, { headers: { "Content-Type": `${type}; charset=utf-8` } });
}

/** @throws Problem 422 when the body names none */
function requestedScope({ scope, target_scope }: typeof ScopeRequest.static): Scope {
  const requested = scope ?? target_scope;
  if (requested !== undefined) return requested;
  throw invalidField("scope", "is required");
}
