/**
 * What a security context says (docs/reference/security-contexts.md): which tools it opens, within which bounds, and
 * which calls a person is asked about first. A member that is absent or null constrains nothing.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../kernel/schema.ts";

/** `svc-` begins the names of system contexts. */
export const contextName = "^[a-z][a-z0-9-]{0,62}$";
const contextNames = new RegExp(contextName);
export const isContextName = (name: string): boolean => contextNames.test(name);
export const isSystemName = (name: string): boolean => name.startsWith("svc-");

const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema));

/** Patterns of tools: `*`, `prefix.*`, or a name. Other characters than these occur in no tool's name. */
const ToolPattern = Type.String({ minLength: 1, maxLength: 200, pattern: "^(\\*|[A-Za-z0-9_./-]+(\\.\\*)?)$" });

/** Entries that name people: `user:<sub>`, `email:<address>`, `role:<role>`. */
const Person = Type.String({
  maxLength: 330,
  pattern: '^(email:[^\\s@<>,;:"]{1,64}@[^\\s@<>,;:"]{1,255}|(user|role):[^\\s]{1,256})$',
});

export const maxQuorum = 5;
const toolApprovalMembers = {
  /** An expression over the arguments; null: every call is asked about. */
  when: Type.Optional(Nullable(Type.String({ maxLength: 4096 }))),
  approvers: Type.Optional(Type.Array(Person, { maxItems: 100 })),
  /** Whether the identity that started the execution may not decide. */
  forbid_initiator: Type.Optional(Type.Boolean()),
  /** So many different people have to approve. */
  quorum: Type.Optional(Type.Integer({ minimum: 1, maximum: maxQuorum })),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 604_800 })),
  on_timeout: Type.Optional(Type.Union([Type.Literal("reject"), Type.Literal("fail")])),
  /** Whether the approver may change the arguments. */
  editable: Type.Optional(Type.Boolean()),
  /** The most that an approver may grant for later calls. */
  remember: Type.Optional(Nullable(Type.Union([Type.Literal("execution"), Type.Literal("tool")]))),
  /** Whether a client of the MCP face may be asked in place of an approval that waits. */
  elicit: Type.Optional(Type.Boolean()),
};

/** As a capability or a manifest says it. */
export const WrittenToolApproval = Type.Object(toolApprovalMembers, { additionalProperties: false });
export type WrittenToolApproval = Static<typeof WrittenToolApproval>;

/** That a person is asked before a call runs; every member stands. */
export const ToolApproval = Type.Object({
  when: Nullable(Text),
  approvers: Type.Array(Text),
  forbid_initiator: Type.Boolean(),
  quorum: Type.Integer({ minimum: 1, maximum: maxQuorum }),
  timeout_seconds: Type.Integer(),
  on_timeout: Type.Union([Type.Literal("reject"), Type.Literal("fail")]),
  editable: Type.Boolean(),
  remember: Nullable(Type.Union([Type.Literal("execution"), Type.Literal("tool")])),
  elicit: Type.Boolean(),
});
export type ToolApproval = Static<typeof ToolApproval>;

/** Fills in what was not written. */
export function toolApprovalOf(written: WrittenToolApproval): ToolApproval {
  return {
    when: written.when ?? null,
    approvers: [...new Set(written.approvers ?? [])],
    forbid_initiator: written.forbid_initiator ?? false,
    quorum: written.quorum ?? 1,
    timeout_seconds: written.timeout_seconds ?? 3600,
    on_timeout: written.on_timeout ?? "reject",
    editable: written.editable ?? false,
    remember: written.remember ?? null,
    elicit: written.elicit ?? false,
  };
}

const RateLimit = Type.Object(
  {
    calls: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    per_seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  { additionalProperties: false },
);

const Entries = Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 1000 });
const Subcommands = Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 1000 });

const capabilityMembers = {
  tool_pattern: ToolPattern,
  /** Absolute, or below `/workspace`; see `paths.ts`. */
  path_allowlist: optional(Entries),
  /** Bare names of programs, or exact paths. */
  command_allowlist: optional(Entries),
  /** By command, or for every allowed command. */
  subcommand_allowlist: optional(
    Type.Union([
      Type.Record(Type.String({ minLength: 1, maxLength: 4096 }), Subcommands, { maxProperties: 1000 }),
      Subcommands,
    ]),
  ),
  /** See `domains.ts`. */
  domain_allowlist: optional(Entries),
  rate_limit: optional(RateLimit),
  /** Bytes. */
  max_response_size: optional(Type.Integer({ minimum: 1, maximum: 10_485_760 })),
  max_concurrent: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  max_timeout_secs: optional(Type.Integer({ minimum: 1, maximum: 3600 })),
};

/** As callers write it. */
export const WrittenCapability = Type.Object(
  { ...capabilityMembers, approval: optional(WrittenToolApproval) },
  { additionalProperties: false },
);
export type WrittenCapability = Static<typeof WrittenCapability>;

export const Capability = Type.Object({ ...capabilityMembers, approval: optional(ToolApproval) });
export type Capability = Static<typeof Capability>;

/** What binds where a capability says nothing. */
export const capabilityDefaults = {
  max_response_size: 10_485_760,
  max_concurrent: 8,
  max_timeout_secs: 3600,
} as const;

const maxCapabilities = 100;
const maxDenied = 200;

export const SecurityContextSpec = Type.Object({
  capabilities: Type.Array(Capability, { maxItems: maxCapabilities }),
  /** Patterns of tools; stronger than every capability. */
  deny_list: Type.Array(ToolPattern, { maxItems: maxDenied }),
});
export type SecurityContextSpec = Static<typeof SecurityContextSpec>;

export const WrittenContext = {
  description: optional(Type.String({ maxLength: 4096 })),
  capabilities: Type.Optional(Type.Array(WrittenCapability, { maxItems: maxCapabilities })),
  deny_list: Type.Optional(Type.Array(ToolPattern, { maxItems: maxDenied })),
  usable_by: optional(Type.Array(Person, { maxItems: 32 })),
};
