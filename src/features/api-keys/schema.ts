/** The wire shapes of API keys. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";
import { uuidParam } from "../../http/route.ts";

const Status = Type.Union([Type.Literal("active"), Type.Literal("revoked"), Type.Literal("expired")]);

const keyMembers = {
  id: Text,
  name: Text,
  scopes: Type.Array(Text),
  prefix: Text,
  last4: Text,
  status: Status,
  owner_user_id: Text,
  parent_key_id: Nullable(Text),
  expires_at: Nullable(Time),
  previous_expires_at: Nullable(Time),
  last_used: Nullable(Time),
  last_used_at: Nullable(Time),
  created_at: Time,
};
export const ApiKeyBody = Type.Object(keyMembers);
export type ApiKeyBody = Static<typeof ApiKeyBody>;

/** With the value, which is told once, under the names that clients know it by. */
export const NewApiKeyBody = Type.Object({ ...keyMembers, api_key: Text, key: Text, key_value: Text });
export type NewApiKeyBody = Static<typeof NewApiKeyBody>;

export const KeyId = Type.Object({ id: uuidParam() });

const Moment = Type.String({ maxLength: 64, description: "Timestamp with a zone, in the future" });

export const CreateBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: "At most 64 bytes" }),
    scopes: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 200,
        description: "Scopes, wildcards, `read`, `write`; absent: all tenant scopes of the caller",
      }),
    ),
    expires_at: Type.Optional(Moment),
  },
  { examples: [{ name: "nightly import", scopes: ["read", "agent:execute"] }] },
);
export type CreateBody = Static<typeof CreateBody>;

export const RotateBody = Type.Object(
  {
    grace_seconds: Type.Integer({ minimum: 0, maximum: 86_400, default: 0 }),
    expires_at: Type.Optional(Moment),
  },
  { examples: [{ grace_seconds: 3600 }] },
);
export type RotateBody = Static<typeof RotateBody>;

export const ListQuery = Type.Object({
  ...pagingQuery,
  status: Type.Optional(Status),
  all: Type.Optional(Type.Boolean({ description: "Every key of the tenant, for its owner and admins" })),
});

export const RevokedBody = Type.Object({ status: Type.Literal("revoked"), id: Text, message: Text });

export const ValidBody = Type.Object({
  user_id: Text,
  tenant_id: Text,
  role: Nullable(Text),
  aegis_role: Nullable(Text),
  scopes: Type.Array(Text),
  tier: Text,
  zaru_tier: Text,
  kind: Text,
  key_id: Text,
  expires_at: Nullable(Time),
});

/** By the names that the API document gives them. */
export const named = {
  ApiKey: ApiKeyBody,
  NewApiKey: CreateBody,
  IssuedApiKey: NewApiKeyBody,
  ApiKeyRotation: RotateBody,
  ValidApiKey: ValidBody,
};
