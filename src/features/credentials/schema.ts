/** The wire shapes of credentials and their grants. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";
import { Uuid, uuidParam } from "../../http/route.ts";

const oneOf = <const Word extends string>(...words: readonly Word[]) =>
  Type.Unsafe<Word>(Type.Union(words.map((word) => Type.Literal(word))));

export const CredentialId = Type.Object({ id: uuidParam() });
export const GrantId = Type.Object({ id: uuidParam(), grant_id: uuidParam() });

/** Read in lower case. */
export const Provider = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" });
export const Label = Type.String({ minLength: 1, maxLength: 128, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" });
export const ScopeAsked = Type.String({
  maxLength: 64,
  description: "`personal`, `tenant`, or `team:<uuid>`, which is `tenant` in that team",
});
const StatusName = oneOf("pending_oauth", "active", "expired", "revoked");
const TypeName = oneOf("secret", "variable", "service_account", "oauth2");
/** As a caller writes it. */
const Moment = Type.String({ maxLength: 64, description: "ISO 8601, in the future" });
const Metadata = Type.Record(Type.String(), Type.Unknown());

const members = {
  id: Type.String(),
  provider: Type.String(),
  credential_type: TypeName,
  label: Nullable(Type.String()),
  scope: oneOf("personal", "tenant"),
  status: StatusName,
  owner_user_id: Type.String(),
  tenant_id: Type.String(),
  metadata: Metadata,
  scopes: Type.Array(Type.String()),
  expires_at: Nullable(Time),
  grants_count: Type.Integer(),
  created_at: Time,
  updated_at: Time,
  last_used: Nullable(Time),
  last_used_at: Nullable(Time),
  version: Type.Integer(),
};
/** Never the value, nor where or how it is stored. */
export const Credential = Type.Object(members);
export type Credential = Static<typeof Credential>;
export const CredentialDetail = Type.Object({ ...members, credential: Credential });
export const RotatedCredential = Type.Object({
  ...members,
  status: Type.Literal("active"),
  rotated: Type.Literal(true),
});
export const RevokedCredential = Type.Object({ status: Type.Literal("revoked"), id: Type.String() });

export const CredentialFilter = Type.Object({
  ...pagingQuery,
  provider: Type.Optional(Provider),
  status: Type.Optional(StatusName),
});

const Value = Type.String({ minLength: 1, description: "At most 64 KiB" });
export const NewApiKey = Type.Object(
  {
    provider: Provider,
    value: Type.Optional(Value),
    api_key_value: Type.Optional(Value),
    api_key: Type.Optional(Value),
    label: Type.Optional(Label),
    scope: Type.Optional(ScopeAsked),
    credential_type: Type.Optional(oneOf("secret", "variable", "service_account")),
    metadata: Type.Optional(Metadata),
    expires_at: Type.Optional(Moment),
  },
  { examples: [{ provider: "crm", value: "<the key>", label: "sales", scope: "tenant" }] },
);
export type NewApiKey = Static<typeof NewApiKey>;

export const Rotation = Type.Object(
  {
    new_value: Type.Optional(Value),
    value: Type.Optional(Value),
    provider_params: Type.Optional(Type.Unknown()),
  },
  { examples: [{ new_value: "<the new key>" }] },
);
export type Rotation = Static<typeof Rotation>;

const targetTypes = ["agent", "workflow", "all_agents"] as const;
export const Grant = Type.Object({
  id: Type.String(),
  grant_id: Type.String(),
  credential_id: Type.String(),
  agent_id: Nullable(Type.String()),
  workflow_name: Nullable(Type.String()),
  target: Type.Object({ type: oneOf(...targetTypes), value: Nullable(Type.String()) }),
  permission_type: Type.Literal("read"),
  created_by: Type.String(),
  created_at: Time,
  expires_at: Nullable(Time),
});
export type Grant = Static<typeof Grant>;

export const NewGrant = Type.Object(
  {
    agent_id: Type.Optional(Uuid),
    workflow_name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    target_type: Type.Optional(oneOf(...targetTypes)),
    target_value: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    permission_type: Type.Optional(oneOf("read", "use")),
    expires_at: Type.Optional(Moment),
  },
  { examples: [{ agent_id: "01920000-0000-7000-8000-000000000001" }] },
);
export type NewGrant = Static<typeof NewGrant>;

export const GrantList = Type.Object({ grants: Type.Array(Grant), items: Type.Array(Grant), count: Type.Integer() });
export const RevokedGrant = Type.Object({ status: Type.Literal("revoked"), grant_id: Type.String() });

/** By the names that the API document gives them. */
export const named = {
  Credential,
  CredentialDetail,
  CredentialRotated: RotatedCredential,
  NewApiKeyCredential: NewApiKey,
  CredentialRotation: Rotation,
  CredentialGrant: Grant,
  NewCredentialGrant: NewGrant,
};
