/** Entries of the audit log on the wire, and the filters of its lists. */
import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../../../actors/kernel/json.ts";
import { Nullable, Text } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

const Outcome = Type.Union([Type.Literal("allowed"), Type.Literal("denied"), Type.Literal("failed")]);

export const AuditEntry = Type.Object({
  id: Text,
  at: Type.String({ format: "date-time" }),
  tenant_id: Text,
  actor: Type.Object({
    kind: Text,
    realm: Nullable(Text),
    user_id: Nullable(Text),
    role: Nullable(Text),
    key_id: Nullable(Text),
    name: Nullable(Text),
  }),
  action: Text,
  target: Type.Object({ type: Text, id: Text }),
  outcome: Outcome,
  ip: Nullable(Text),
  user_agent: Nullable(Text),
  request_id: Nullable(Text),
  details: JsonObject,
});
export type AuditEntry = Static<typeof AuditEntry>;

const filters = {
  ...pagingQuery,
  actor: Type.Optional(Type.String({ maxLength: 512, description: "User id, key id or name" })),
  action: Type.Optional(Type.String({ maxLength: 100, description: "An action, or how it begins" })),
  target_type: Type.Optional(Type.String({ maxLength: 100 })),
  target_id: Type.Optional(Type.String({ maxLength: 512 })),
  outcome: Type.Optional(Outcome),
  since: Type.Optional(Type.String({ maxLength: 64, description: "Timestamp of the oldest entry" })),
  until: Type.Optional(Type.String({ maxLength: 64, description: "Timestamp of the newest entry" })),
};

export const AuditFilter = Type.Object({
  ...filters,
  format: Type.Optional(
    Type.Literal("ndjson", {
      description: "Every entry that the filters leave, oldest first, one a line; not with paging",
    }),
  ),
});
export type AuditFilter = Static<typeof AuditFilter>;

export const AdminAuditFilter = Type.Object({
  ...AuditFilter.properties,
  tenant_id: Type.Optional(Type.String({ maxLength: 100 })),
});

/** By the names that the API document gives them. */
export const named = {
  AuditEntry,
};
