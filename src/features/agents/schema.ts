/** The wire shapes of agents. */

import { type Static, Type } from "@sinclair/typebox";
import { agentSchema } from "../../../actors/agent/manifest/manifest.ts";
import { AnyJson, type Json } from "../../../actors/kernel/json.ts";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";

const Texts = Type.Record(Type.String(), Type.String());

export const AgentScope = Type.Union([Type.Literal("tenant"), Type.Literal("global")]);
export type AgentScope = Static<typeof AgentScope>;
export const AgentStatus = Type.Union([Type.Literal("active"), Type.Literal("paused"), Type.Literal("archived")]);
export type AgentStatus = Static<typeof AgentStatus>;

const ManifestWarning = Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() });

export const AgentElement = Type.Object({
  id: Type.String(),
  agent_id: Type.String(),
  name: Type.String(),
  tenant_id: Type.String(),
  version: Type.String(),
  revision: Type.Integer(),
  description: Nullable(Type.String()),
  scope: AgentScope,
  status: AgentStatus,
  agent_type: Type.String(),
  capability_tags: Type.Array(Type.String()),
  labels: Texts,
  annotations: Texts,
  /** Executions the caller's tenant ran of it. */
  execution_count: Type.Integer(),
  input_schema: AnyJson,
  created_at: Time,
  updated_at: Time,
  deployed_at: Time,
});
export type AgentElement = Static<typeof AgentElement>;

export const AgentDetail = Type.Composite([
  AgentElement,
  Type.Object({ manifest: AnyJson, manifest_yaml: Type.String() }),
]);
export type AgentDetail = Static<typeof AgentDetail>;

export const DeployQuery = Type.Object({
  force: Type.Boolean({ default: false }),
  scope: Type.Union([Type.Literal("tenant"), Type.Literal("global")], { default: "tenant" }),
  dry_run: Type.Boolean({ default: false }),
});

export const Deployed = Type.Object({
  id: Type.String(),
  agent_id: Type.String(),
  name: Type.String(),
  tenant_id: Type.String(),
  version: Type.String(),
  revision: Type.Integer(),
  scope: AgentScope,
  status: AgentStatus,
  deployed_at: Time,
  /** False when the agent existed and got a version or a revision. */
  created: Type.Boolean(),
  warnings: Type.Array(ManifestWarning),
});
export type Deployed = Static<typeof Deployed>;

export const DryRun = Type.Object({
  valid: Type.Literal(true),
  dry_run: Type.Literal(true),
  action: Type.Union([Type.Literal("create"), Type.Literal("new_version"), Type.Literal("overwrite")]),
  name: Type.String(),
  version: Type.String(),
  manifest: AnyJson,
  warnings: Type.Array(ManifestWarning),
});
export type DryRun = Static<typeof DryRun>;

export const PatchQuery = Type.Object({ dry_run: Type.Boolean({ default: false }) });

export const Patched = Type.Composite([
  AgentDetail,
  Type.Object({ success: Type.Literal(true), warnings: Type.Array(ManifestWarning) }),
]);
export type Patched = Static<typeof Patched>;

/** Published clients use either member. */
export const ScopeRequest = Type.Object(
  {
    scope: Type.Optional(AgentScope),
    target_scope: Type.Optional(AgentScope),
  },
  { examples: [{ scope: "global" }] },
);

export const ScopeChanged = Type.Composite([
  AgentDetail,
  Type.Object({
    success: Type.Literal(true),
    previous_scope: AgentScope,
    new_scope: AgentScope,
    changed: Type.Boolean(),
  }),
]);
export type ScopeChanged = Static<typeof ScopeChanged>;

/** Nothing: the version that was current before. A revision alone: of the current version. */
export const RollbackRequest = Type.Object(
  {
    version: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    revision: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  },
  { examples: [{ version: "1.0.0" }] },
);

export const AgentFilter = Type.Object({
  scope: Type.Optional(AgentScope),
  /** False: the tenant's own agents only. */
  visible: Type.Boolean({ default: true }),
  /** Everything but archived agents when absent. */
  status: Type.Optional(AgentStatus),
  /** `key=value`, repeatable. */
  label: Type.Optional(Type.Array(Type.String(), { maxItems: 64 })),
  agent_type: Type.Optional(Type.String({ maxLength: 256 })),
  /** Part of the name or the description. */
  q: Type.Optional(Type.String({ maxLength: 256 })),
});
export type AgentFilter = Static<typeof AgentFilter>;

export const AgentDeleted = Type.Object({
  status: Type.Literal("deleted"),
  success: Type.Literal(true),
  id: Type.String(),
  agent_id: Type.String(),
});

export const VersionElement = Type.Object({
  id: Type.String(),
  agent_id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  revision: Type.Integer(),
  current: Type.Boolean(),
  deployed_at: Time,
  created_at: Time,
  deployed_by: Type.String(),
  manifest_yaml: Type.String(),
});
export type VersionElement = Static<typeof VersionElement>;

export const VersionList = Type.Object({
  versions: Type.Array(VersionElement),
  items: Type.Array(VersionElement),
  count: Type.Integer(),
});

const RuntimeElement = Type.Object({
  language: Type.String(),
  version: Type.String(),
  image: Type.String(),
  description: Type.String(),
  deprecated: Type.Boolean(),
});
export const RuntimeList = Type.Object({ items: Type.Array(RuntimeElement), count: Type.Integer() });

const ModelElement = Type.Object({
  alias: Type.String(),
  capabilities: Type.Array(Type.String()),
  context_window: Nullable(Type.Integer()),
  max_output_tokens: Type.Integer(),
});
export const ModelList = Type.Object({ items: Type.Array(ModelElement), count: Type.Integer() });

/** A manifest as a body. The example deploys: a test sends it. */
export const ManifestBody = Type.Unsafe<Json>({
  "x-ref": "AgentManifest",
  examples: [
    {
      apiVersion: "svc.dev/v1",
      kind: "Agent",
      metadata: { name: "reporter", version: "1.0.0" },
      spec: {
        runtime: { language: "python", version: "3.12", model: "default" },
        task: { instruction: "Write a report of what you are given." },
      },
    },
  ],
});

/** A whole manifest, a merge patch of one, or single fields. */
export const PatchBody = Type.Unsafe<Json>({
  type: "object",
  description:
    "A whole manifest, a JSON merge patch of it, or `description`, `labels`, `annotations`, `tags`, `status`",
  examples: [{ description: "Writes reports", labels: { team: "red" } }],
});

/** By the names that the API document gives them. */
export const named = {
  AgentManifest: agentSchema,
  Agent: AgentElement,
  AgentDetail,
  AgentDeployed: Deployed,
  AgentDryRun: DryRun,
  AgentPatched: Patched,
  AgentScopeRequest: ScopeRequest,
  AgentScopeChanged: ScopeChanged,
  AgentRollbackRequest: RollbackRequest,
  AgentDeleted,
  AgentVersion: VersionElement,
  AgentVersions: VersionList,
  Runtimes: RuntimeList,
  Models: ModelList,
  AgentWarning: ManifestWarning,
};
