/** The wire shapes of rates: overrides, and what was used. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

const Limit = Type.Integer({ minimum: -1, description: "Units; 0 blocks, -1 is unlimited" });
const Name = (most: number) => Type.String({ minLength: 1, maxLength: most });
const ScopeType = Type.Union([Type.Literal("tenant"), Type.Literal("user")]);

export const RateOverrideRecord = Type.Object({
  id: Text,
  tenant_id: Nullable(Text),
  realm: Nullable(Text),
  user_id: Nullable(Text),
  resource_type: Text,
  bucket: Text,
  limit_value: Limit,
  burst_value: Nullable(Type.Integer()),
  created_by: Type.Object({ kind: Text, realm: Nullable(Text), user_id: Nullable(Text) }),
  created_at: Time,
  updated_at: Time,
});
export type RateOverrideRecord = Static<typeof RateOverrideRecord>;

export const OverrideBody = Type.Object(
  {
    resource_type: Name(100),
    bucket: Name(20),
    limit_value: Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER }),
    burst_value: Type.Optional(
      Type.Integer({
        minimum: -1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "What the minute holds at most; of per_minute only, at least limit_value",
      }),
    ),
    tenant_id: Type.Optional(Name(100)),
    user_id: Type.Optional(Name(255)),
    realm: Type.Optional(Type.String({ ...Name(255), description: "Of the user; the tenant's own when absent" })),
  },
  {
    examples: [
      { resource_type: "agent_execution", bucket: "hourly", limit_value: 100, tenant_id: "acme" },
      { resource_type: "llm_call", bucket: "per_minute", limit_value: 60, burst_value: 120, user_id: "7c1e" },
    ],
  },
);
export type OverrideBody = Static<typeof OverrideBody>;

export const OverrideFilter = Type.Object({
  ...pagingQuery,
  tenant_id: Type.Optional(Type.String({ maxLength: 100 })),
  user_id: Type.Optional(Type.String({ maxLength: 255 })),
  resource_type: Type.Optional(Type.String({ maxLength: 100 })),
});
export type OverrideFilter = Static<typeof OverrideFilter>;

export const OverrideDeleted = Type.Object({ status: Type.Literal("deleted"), id: Text });

export const UsageFilter = Type.Object({
  scope_type: Type.Optional(ScopeType),
  scope_id: Type.Optional(
    Type.String({ maxLength: 700, description: "A tenant's slug, or <tenant>:<realm>:<subject> of a user" }),
  ),
});
export type UsageFilter = Static<typeof UsageFilter>;

export const UsageRecord = Type.Object({
  scope_type: ScopeType,
  scope_id: Text,
  resource_type: Text,
  bucket: Text,
  window_start: Time,
  counter: Type.Integer(),
  limit_value: Limit,
});
export type UsageRecord = Static<typeof UsageRecord>;

export const UsageList = Type.Object({
  usage: Type.Array(UsageRecord),
  items: Type.Array(UsageRecord),
  count: Type.Integer(),
});

export const UserRate = Type.Object({
  bucket_name: Type.String({ description: "<resource_type>.<bucket>" }),
  usage_pct: Type.Number({ description: "Of the limit, as a fraction" }),
  resource_type: Text,
  bucket: Text,
  scope_type: ScopeType,
  scope_id: Text,
  current_count: Type.Integer(),
  limit_value: Limit,
  remaining: Type.Integer(),
  burst_value: Nullable(Type.Integer()),
  window_seconds: Type.Integer(),
  window_start: Time,
  resets_at: Time,
});
export type UserRate = Static<typeof UserRate>;

export const UserRates = Type.Object({
  user_id: Text,
  tenant_id: Text,
  tier: Text,
  buckets: Type.Array(UserRate),
  usage: Type.Array(UserRate),
  items: Type.Array(UserRate),
  count: Type.Integer(),
});

/** By the names that the API document gives them. */
export const named = {
  RateOverride: RateOverrideRecord,
  NewRateOverride: OverrideBody,
  RateUsage: UsageRecord,
  UserRate,
  UserRates,
};
