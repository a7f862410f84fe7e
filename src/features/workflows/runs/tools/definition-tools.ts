/** Tools that register, show and remove workflows. Each does what its route does. */

import { Type } from "@sinclair/typebox";
import { pageOf, pagingQuery } from "../../../../http/paging.ts";
import { auditedAgent } from "../../../audit/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../../../management-tools/port.ts";
import type { Workflows } from "../../definitions/feature.ts";
import type { Scope } from "../../definitions/schema.ts";
import { type Reviewers, requireApproval } from "./review.ts";

/** What these tools need of the definitions. */
export type Definitions = Pick<
  Workflows,
  "register" | "validate" | "nameIn" | "list" | "detail" | "versions" | "remove" | "setScope"
>;

export interface DefinitionToolOptions {
  readonly workflows: Definitions;
  readonly reviewers: Reviewers;
}

const Manifest = { manifest_yaml: Type.String({ minLength: 1 }) };
const Named = {
  name: Type.String({ minLength: 1, maxLength: 256, description: "Name or id of the workflow" }),
  version: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
};
const Scopes = Type.Optional(Type.Union([Type.Literal("tenant"), Type.Literal("global")]));
const Share = (share: number) => Type.Number({ minimum: 0, maximum: 1, default: share });

const callerOf = (caller: ToolCaller) => ({
  identity: caller.identity,
  tenant: caller.tenant,
  by: auditedAgent(caller),
});
/** Of what is registered: it carries the ceilings of the call. */
const registrarOf = (caller: ToolCaller) => ({ ...callerOf(caller), ceilings: caller.ceilings });
const referenceOf = ({ name, version }: { readonly name: string; readonly version?: string }) => ({
  ref: name,
  version: version ?? null,
});

export function definitionTools(options: DefinitionToolOptions): readonly ManagementTool[] {
  return [
    ...writingTools(options),
    ...readingTools(options),
    scopeTool(options, "promote"),
    scopeTool(options, "demote"),
  ];
}

function writingTools({ workflows, reviewers }: DefinitionToolOptions): ManagementTool[] {
  return [
    defineTool({
      name: "svc.workflow.create",
      description: "Register a workflow manifest; deployed judges may review it first",
      scope: "workflow:deploy",
      arguments: Type.Object({
        ...Manifest,
        force: Type.Boolean({ default: false }),
        scope: Scopes,
        judge_agents: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 10, default: [] }),
        min_score: Share(0.8),
        min_confidence: Share(0.7),
      }),
      call: async (caller, { manifest_yaml, force, scope = null, judge_agents, min_score, min_confidence }) => {
        if (judge_agents.length > 0) {
          // What cannot be registered anyway is not worth a review.
          const { valid } = await workflows.validate(caller, manifest_yaml);
          const requirements = { agents: judge_agents, min_score, min_confidence };
          if (valid) await requireApproval(reviewers, caller, manifest_yaml, requirements);
        }
        return workflows.register(registrarOf(caller), manifest_yaml, { force, scope });
      },
    }),
    defineTool({
      name: "svc.workflow.update",
      description: "Register a manifest for a workflow that is there already; force replaces the same version",
      scope: "workflow:deploy",
      arguments: Type.Object({ ...Manifest, force: Type.Boolean({ default: false }), scope: Scopes }),
      call: async (caller, { manifest_yaml, force, scope = null }) => {
        const name = await workflows.nameIn(caller, manifest_yaml);
        if (name !== null) await workflows.detail(caller.tenant, { ref: name, version: null });
        return workflows.register(registrarOf(caller), manifest_yaml, { force, scope });
      },
    }),
    defineTool({
      name: "svc.workflow.delete",
      description: "Remove a version of a workflow, or all of them",
      scope: "workflow:delete",
      arguments: Type.Object({ ...Named, force: Type.Boolean({ default: false }) }),
      call: (caller, given) => workflows.remove(callerOf(caller), referenceOf(given), given.force),
    }),
  ];
}

function readingTools({ workflows }: DefinitionToolOptions): ManagementTool[] {
  return [
    defineTool({
      name: "svc.workflow.validate",
      effect: "reads",
      description: "Judge a workflow manifest and store nothing",
      scope: "workflow:validate",
      arguments: Type.Object(Manifest),
      call: (caller, { manifest_yaml }) => workflows.validate(caller, manifest_yaml),
    }),
    defineTool({
      name: "svc.workflow.list",
      effect: "reads",
      description: "Workflows by name, the latest version of each",
      scope: "workflow:list",
      arguments: Type.Object({
        ...pagingQuery,
        scope: Scopes,
        visible: Type.Optional(Type.Boolean()),
        tag: Type.Optional(Type.String({ maxLength: 256 })),
        label: Type.Optional(Type.Array(Type.String({ maxLength: 400 }), { maxItems: 16, description: "key=value" })),
        all_versions: Type.Optional(Type.Boolean()),
      }),
      call: ({ tenant }, given) => workflows.list(tenant, given, pageOf(given, 4)),
    }),
    defineTool({
      name: "svc.workflow.get",
      effect: "reads",
      description: "One workflow with its manifest",
      scope: "workflow:read",
      arguments: Type.Object(Named),
      call: ({ tenant }, given) => workflows.detail(tenant, referenceOf(given)),
    }),
    defineTool({
      name: "svc.workflow.export",
      effect: "reads",
      description: "The manifest of a workflow as it was registered",
      scope: "workflow:read",
      arguments: Type.Object(Named),
      call: async ({ tenant }, given) => {
        const { name, version, manifest_yaml } = await workflows.detail(tenant, referenceOf(given));
        return { name, version, manifest_yaml };
      },
    }),
    defineTool({
      name: "svc.workflow.versions",
      effect: "reads",
      description: "The versions of a workflow, newest first",
      scope: "workflow:list",
      arguments: Type.Object({ name: Named.name, ...pagingQuery }),
      call: ({ tenant }, given) => workflows.versions(tenant, given.name, pageOf(given, 1)),
    }),
  ];
}

const scopes: Readonly<Record<"promote" | "demote", Scope>> = { promote: "global", demote: "tenant" };

/** Only the caller's own authority counts; users and roles in the arguments have no effect. */
function scopeTool({ workflows }: DefinitionToolOptions, action: "promote" | "demote"): ManagementTool {
  return defineTool({
    name: `svc.workflow.${action}`,
    description:
      action === "promote" ? "Show a workflow to all tenants" : "Take a global workflow back into one tenant",
    scope: "workflow:deploy",
    arguments: Type.Object({ name: Named.name }),
    call: (caller, { name }) => workflows.setScope(callerOf(caller), referenceOf({ name }), scopes[action]),
  });
}
