/** The wire shapes of sources and routers; see docs/reference/stimuli.md. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { presetNames } from "./port.ts";

const TextOrNull = Nullable(Text);
const strict = { additionalProperties: false };

const Preset = Type.Union(presetNames.map((name) => Type.Literal(name)));
const Signature = Type.Object(
  { preset: Preset, tolerance_seconds: Type.Optional(Type.Integer({ minimum: 30, maximum: 900 })) },
  strict,
);
const Acknowledge = Type.Union([Type.Literal("routed"), Type.Literal("received")]);
const IdempotencyFallback = Type.Union([Type.Literal("none"), Type.Literal("body_sha256")]);
const NewSecret = Type.Union(
  [
    Type.String({ minLength: 16, maxLength: 256 }),
    Type.String({ pattern: "^secret:", maxLength: 800, description: "secret:<path>[#field] of the tenant" }),
  ],
  { description: "Write-only" },
);
/** A name or a UUID. */
const Reference = Type.String({ minLength: 1, maxLength: 200 });

const changeable = {
  workflow: Type.Optional(Nullable(Reference)),
  workflow_version: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 64 }))),
  enabled: Type.Optional(Type.Boolean()),
  signature: Type.Optional(Type.Union([Preset, Signature])),
  secret: Type.Optional(Type.Union([NewSecret, Type.Null()], { description: "Write-only; null removes it" })),
  generate_secret: Type.Optional(Type.Boolean()),
  replay_guard: Type.Optional(
    Type.Boolean({ description: "Equal signed bytes are a repeat under any key; by default for every preset but svc" }),
  ),
  require_timestamp: Type.Optional(Type.Boolean({ description: "Refuses deliveries without a signed time" })),
  acknowledge: Type.Optional(Acknowledge),
  idempotency_fallback: Type.Optional(IdempotencyFallback),
  forward_headers: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 128,
        pattern: "^(\\*|[!#$%&'*+.^_`|~0-9A-Za-z-]+)$",
        description: "* or a header name",
      }),
      { maxItems: 64 },
    ),
  ),
  events: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128, pattern: "^[!-~]+$" }), {
      maxItems: 200,
      description:
        "The provider's events that start something, as github's `X-GitHub-Event`, with or without `.<action>`, and the `type` of others; empty: all",
    }),
  ),
  match: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: "Over payload and headers: what it does not hold for starts nothing",
      }),
    ),
  ),
  rate_limit_per_minute: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 100_000 }), Type.Null()], {
      description: "Stimuli of this source let through a minute, beside the tenant's own rate",
    }),
  ),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
};

/** What a new source is made of; what it leaves out gets its default. */
export const NewSource = Type.Object(
  { source: Text, ...changeable },
  { ...strict, examples: [{ source: "ci", workflow: "on-push", signature: "github", generate_secret: true }] },
);
export type NewSource = Static<typeof NewSource>;

/** Members of a source to change, or all of them. */
export const SourceChange = Type.Object(
  { source: Type.Optional(Text), ...changeable },
  { ...strict, examples: [{ enabled: false }] },
);
export type SourceChange = Static<typeof SourceChange>;

const Identifier = Type.Object({ kind: Text, sub: Text });

export const SourceRecord = Type.Object({
  id: Text,
  tenant_id: Text,
  source: Text,
  workflow: TextOrNull,
  workflow_version: TextOrNull,
  enabled: Type.Boolean(),
  signature: Type.Object({ preset: Preset, tolerance_seconds: Type.Integer() }),
  generate_secret: Type.Literal(false),
  replay_guard: Type.Boolean(),
  require_timestamp: Type.Boolean(),
  acknowledge: Acknowledge,
  idempotency_fallback: IdempotencyFallback,
  forward_headers: Type.Array(Text),
  events: Type.Array(Text),
  match: TextOrNull,
  rate_limit_per_minute: Nullable(Type.Integer()),
  description: Text,
  url: Text,
  bare_url: Type.Boolean(),
  secret_source: Type.Union([
    Type.Literal("stored"),
    Type.Literal("env_tenant"),
    Type.Literal("env"),
    Type.Literal("none"),
  ]),
  previous_secret_expires_at: TextOrNull,
  last_received_at: TextOrNull,
  /** Messages that `events` and `match` passed over. */
  ignored_count: Type.Integer(),
  /** The last one of them. */
  last_ignored: Nullable(Type.Object({ at: Text, reason: Text, event: TextOrNull })),
  created_at: Text,
  updated_at: Text,
  created_by: Identifier,
});
export type SourceRecord = Static<typeof SourceRecord>;

/** After a change that minted a secret, and then only, with that secret. */
export const ChangedSource = Type.Composite([SourceRecord, Type.Object({ secret: Type.Optional(Text) })]);
export type ChangedSource = Static<typeof ChangedSource>;

export const SourceFilter = Type.Object({ source: Type.Optional(Type.String({ maxLength: 1024 })), ...pagingQuery });

export const SourceDeleted = Type.Object({
  status: Type.Literal("deleted"),
  success: Type.Literal(true),
  id: Text,
});

export const Rotation = Type.Object(
  {
    secret: Type.Optional(NewSecret),
    previous_valid_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_592_000 })),
  },
  { ...strict, examples: [{ previous_valid_seconds: 3600 }] },
);
export type Rotation = Static<typeof Rotation>;

export const Rotated = Type.Object({
  id: Text,
  secret: Type.Optional(Text),
  previous_secret_expires_at: TextOrNull,
});
export type Rotated = Static<typeof Rotated>;

const Confidence = Type.Number({ minimum: 0, maximum: 1 });
const Seconds = Type.Integer({ minimum: 1, maximum: 120 });

export const RouterRequest = Type.Object(
  {
    router_agent: Type.Optional(Reference),
    router_agent_id: Type.Optional(Reference),
    confidence_threshold: Type.Optional(Confidence),
    classification_confidence_threshold: Type.Optional(Confidence),
    timeout_seconds: Type.Optional(Seconds),
    classification_timeout_secs: Type.Optional(Seconds),
    allowed_workflows: Type.Optional(Nullable(Type.Array(Reference, { maxItems: 200 }))),
  },
  { ...strict, examples: [{ router_agent: "router", confidence_threshold: 0.7, allowed_workflows: ["on-push"] }] },
);
export type RouterRequest = Static<typeof RouterRequest>;

export const ConfiguredRouter = Type.Object({
  configured: Type.Literal(true),
  tenant_id: Text,
  router_agent: Text,
  router_agent_id: TextOrNull,
  confidence_threshold: Type.Number(),
  timeout_seconds: Type.Integer(),
  allowed_workflows: Nullable(Type.Array(Text)),
  updated_at: Text,
  updated_by: Identifier,
});
export type ConfiguredRouter = Static<typeof ConfiguredRouter>;

export const RouterRecord = Type.Union([ConfiguredRouter, Type.Object({ configured: Type.Literal(false) })]);

export const RouterDeleted = Type.Object({ status: Type.Literal("deleted"), success: Type.Literal(true) });

/** By the names that the API document gives them. */
export const named = {
  NewSource,
  SourceChange,
  Source: SourceRecord,
  ChangedSource,
  SourceDeleted,
  SecretRotation: Rotation,
  SecretRotated: Rotated,
  RouterRequest,
  ConfiguredRouter,
  Router: RouterRecord,
  RouterDeleted,
  Signature,
};
