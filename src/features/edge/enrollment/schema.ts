/** The wire shapes of enrollment tokens, and of what daemons send to enroll and to rotate their keys. */
import { type Static, Type } from "@sinclair/typebox";
import { maxTtlSeconds } from "../../../../actors/edge/enrollment.ts";
import { Tags } from "../../../../actors/edge/tags.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { Uuid, uuidParam } from "../../../http/route.ts";

const Name = Type.String({ maxLength: 256, description: "Of the host; 1–128 characters, blanks around them apart" });

export const NewToken = Type.Object(
  {
    name: Type.Optional(Name),
    issued_to: Type.Optional(Type.String({ maxLength: 256, description: "The same as name" })),
    ttl_seconds: Type.Integer({ minimum: 1, maximum: maxTtlSeconds, default: maxTtlSeconds }),
    team_tenant_id: Type.Optional(
      Type.String({
        pattern: "^(t-)?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        description: "Of a team that the caller owns or administers: the host becomes the team's",
      }),
    ),
    tags: Type.Optional(Tags),
  },
  { examples: [{ name: "web-1", tags: ["web"], ttl_seconds: 600 }] },
);
export type NewToken = Static<typeof NewToken>;

export const IssuedToken = Type.Object({
  id: Text,
  token: Type.String({ description: "Shown this once" }),
  name: Nullable(Text),
  tags: Type.Array(Text),
  tenant_id: Text,
  expires_at: Time,
  controller_endpoint: Type.String({ description: "host:port" }),
  controller_url: Text,
  qr_payload: Text,
  command_hint: Text,
});
export type IssuedToken = Static<typeof IssuedToken>;

const Status = Type.Union([
  Type.Literal("outstanding"),
  Type.Literal("redeemed"),
  Type.Literal("expired"),
  Type.Literal("revoked"),
]);

export const EnrollmentToken = Type.Object({
  id: Text,
  name: Nullable(Text),
  tags: Type.Array(Text),
  tenant_id: Text,
  status: Status,
  issued_by: Text,
  issued_at: Time,
  expires_at: Time,
  redeemed_at: Nullable(Time),
  revoked_at: Nullable(Time),
  node_id: Nullable(Type.String({ description: "The host that it enrolled" })),
});
export type EnrollmentToken = Static<typeof EnrollmentToken>;

export const TokenQuery = Type.Object({ ...pagingQuery, status: Type.Optional(Status) });
export const TokenId = Type.Object({ id: uuidParam() });

/** The standard alphabet, padded; other texts prove nothing. */
const Signature = Type.String({ maxLength: 128, description: "Ed25519, base64" });
const PublicKey = Type.String({ pattern: "^[A-Za-z0-9+/]{43}=$", description: "Ed25519: base64 of its 32 bytes" });

const exampleKey = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
const exampleSignature = "sAI2TISDXQ/ZO1NJ/kWCt9Z7X9cDtGEHIYbfafq6WRNNe/7KqzXg7KvrknX3MWFjjFvs8ohvRErEgzfcrsYwCw==";

export const EnrollBody = Type.Object(
  {
    token: Type.String({ maxLength: 4096 }),
    public_key: PublicKey,
    signature: Signature,
    name: Type.Optional(Name),
    agent_version: Type.Optional(Type.String({ maxLength: 64, pattern: "^[\\x21-\\x7e]+$" })),
  },
  { examples: [{ token: "eyJhbGciOi…", public_key: exampleKey, signature: exampleSignature, agent_version: "0.1.0" }] },
);
export type EnrollBody = Static<typeof EnrollBody>;

export const Enrolled = Type.Object({
  node_id: Text,
  id: Text,
  tenant_id: Text,
  name: Text,
  tags: Type.Array(Text),
  key_fingerprint: Text,
  connect_url: Text,
  service_keys: Type.Array(Type.Object({ kid: Text, public_key: Text })),
  enrolled_at: Time,
});
export type Enrolled = Static<typeof Enrolled>;

export const RotateKeyBody = Type.Object(
  {
    node_id: Uuid,
    new_public_key: PublicKey,
    issued_at: Type.Integer({ minimum: 0, maximum: 2 ** 40, description: "Unix seconds" }),
    signature_old: Signature,
    signature_new: Signature,
  },
  {
    examples: [
      {
        node_id: "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90",
        new_public_key: exampleKey,
        issued_at: 1932887700,
        signature_old: exampleSignature,
        signature_new: exampleSignature,
      },
    ],
  },
);
export type RotateKeyBody = Static<typeof RotateKeyBody>;

export const RotatedKey = Type.Object({ node_id: Text, key_fingerprint: Text, pending: Type.Literal(true) });
export type RotatedKey = Static<typeof RotatedKey>;
