/** The wire shapes of security contexts. */
import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import {
  Capability,
  contextName,
  ToolApproval,
  WrittenCapability,
  WrittenContext,
  WrittenToolApproval,
} from "../../../actors/policy/security/spec.ts";
import { pagingQuery } from "../../http/paging.ts";
import { uuidParam } from "../../http/route.ts";

export const ContextBody = Type.Object({
  name: Text,
  description: Nullable(Text),
  capabilities: Type.Array(Capability),
  deny_list: Type.Array(Text),
  usable_by: Nullable(Type.Array(Text, { description: "Null: every identity of the tenant" })),
  tenant_id: Text,
  metadata: Type.Object({
    created_at: Nullable(Time),
    updated_at: Nullable(Time),
    version: Type.Integer(),
    updated_by: Nullable(Text),
  }),
});
export type ContextBody = Static<typeof ContextBody>;

const example = {
  description: "What builds need",
  deny_list: ["fs.delete"],
  capabilities: [
    { tool_pattern: "fs.*", path_allowlist: ["/workspace"] },
    {
      tool_pattern: "cmd.run",
      subcommand_allowlist: { git: ["status", "diff"], make: [] },
      rate_limit: { calls: 20, per_seconds: 60 },
      max_concurrent: 1,
    },
    { tool_pattern: "tickets.*", max_response_size: 200_000 },
  ],
};

const Name = Type.String({ pattern: contextName });

export const CreateBody = Type.Object(
  { name: Name, ...WrittenContext },
  { additionalProperties: false, examples: [{ name: "build", ...example }] },
);
export type CreateBody = Static<typeof CreateBody>;

export const ReplaceBody = Type.Object(
  { name: Type.Optional(Type.String({ description: "That of the path" })), ...WrittenContext },
  { additionalProperties: false, examples: [example] },
);
export type ReplaceBody = Static<typeof ReplaceBody>;

/** A name that no context can have finds none. */
export const ContextPath = Type.Object({ name: Type.String({ maxLength: 256, examples: ["build"] }) });

export const ReplaceHeaders = Type.Object({
  "If-Match": Type.Optional(Type.String({ description: 'Only over this version, such as `"3"`; else 412' })),
});

export const ListQuery = Type.Object({ ...pagingQuery });

export const WriteQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({ description: "Answers what would be stored, or what is wrong with it, and stores nothing" }),
  ),
});

export const DeleteQuery = Type.Object({
  force: Type.Optional(
    Type.Boolean({ description: "Also while a deployed agent names it, whose calls are refused from then on" }),
  ),
});
export const DeletedBody = Type.Object({ status: Type.Literal("deleted"), name: Text });

export const EvaluateBody = Type.Object(
  {
    tool_name: Type.String({ minLength: 1, maxLength: 200 }),
    arguments: Type.Optional(JsonObject),
    execution_id: Type.Optional(uuidParam()),
  },
  { examples: [{ tool_name: "fs.read", arguments: { path: "notes.md" } }] },
);
export type EvaluateBody = Static<typeof EvaluateBody>;

export const VerdictBody = Type.Object({
  allowed: Type.Boolean(),
  code: Nullable(Text),
  error_code: Nullable(Type.Integer()),
  violation_type: Nullable(Text),
  capability_index: Nullable(Type.Integer({ description: "Of the capability that governs, or that refuses" })),
  constraint: Nullable(Text),
  message: Text,
  context_version: Type.Integer(),
  decided_by: Nullable(
    Type.String({
      description: "The security context that refuses, or whose capability governs: the own one, or a ceiling",
    }),
  ),
  details: Type.Unsafe<Static<typeof JsonObject>>({
    ...JsonObject,
    description: "Of a refusal, as calls are told; empty when the call is allowed",
  }),
  remaining: Nullable(
    Type.Integer({ description: "Calls that the rates of the governing capabilities leave now; null: no rate" }),
  ),
  approval: Type.Boolean({ description: "Whether a person would be asked first" }),
});
export type VerdictBody = Static<typeof VerdictBody>;

/** By the names that the API document gives them. */
export const named = {
  SecurityContext: ContextBody,
  NewSecurityContext: CreateBody,
  SecurityContextChange: ReplaceBody,
  SecurityContextVerdict: VerdictBody,
  EvaluateCall: EvaluateBody,
  Capability,
  NewCapability: WrittenCapability,
  ToolApproval,
  NewToolApproval: WrittenToolApproval,
};
