/** The wire shapes of the intake. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../../actors/kernel/schema.ts";

/** Other keys are reserved: not used, not refused. */
export const StimulusBody = Type.Object(
  {
    source: Type.String(),
    content: Type.Unknown(),
    idempotency_key: Type.Optional(Nullable(Type.String())),
  },
  { examples: [{ source: "ci", content: { ref: "refs/heads/main" }, idempotency_key: "push-4711" }] },
);

export const Routed = Type.Object({
  stimulus_id: Text,
  /** Null, like the members of its workflow: nothing routed it, and runs that waited for it took it. */
  workflow_execution_id: Nullable(Text),
  status: Type.Literal("classified"),
  workflow_id: Nullable(Text),
  workflow_name: Nullable(Text),
  routing_mode: Nullable(
    Type.Union([Type.Literal("deterministic"), Type.Literal("llm_classified"), Type.Literal("override")]),
  ),
  confidence: Nullable(Type.Number()),
  /** Runs that waited for it and took it, the first 100. */
  taken_by: Type.Array(Text),
});
export type Routed = Static<typeof Routed>;

export const Received = Type.Object({
  stimulus_id: Text,
  workflow_execution_id: Type.Null(),
  status: Type.Literal("received"),
});
export type Received = Static<typeof Received>;

/** A message that its source passes over: nothing of it is stored. */
export const IgnoredAnswer = Type.Object({
  status: Type.Literal("ignored"),
  reason: Type.Union([Type.Literal("event"), Type.Literal("match"), Type.Literal("match_failed")]),
  /** As the provider calls it. */
  event: Nullable(Text),
  /** For people. */
  message: Text,
  stimulus_id: Type.Null(),
  workflow_execution_id: Type.Null(),
});
export type IgnoredAnswer = Static<typeof IgnoredAnswer>;

export const StimulusHeaders = Type.Object({
  "x-idempotency-key": Type.Optional(Type.String({ description: "Where the body names no key" })),
  "idempotency-key": Type.Optional(Type.String({ description: "Where neither is given" })),
  prefer: Type.Optional(
    Type.String({
      description:
        "`respond-async`: 202 once it is stored, it is routed in the background; `wait=<seconds>`: the answer waits for the run; otherwise as the source says",
    }),
  ),
});

export const WebhookHeaders = Type.Object({
  "x-svc-signature": Type.Optional(
    Type.String({
      description:
        "`sha256=` and the HMAC-SHA256 of the body in hex; sources of other presets have headers of their own",
    }),
  ),
  "x-idempotency-key": Type.Optional(Text),
  prefer: Type.Optional(Text),
});

/** By the names that the API document gives them. */
export const named = {
  NewStimulus: StimulusBody,
  StimulusRouted: Routed,
  StimulusReceived: Received,
  StimulusIgnored: IgnoredAnswer,
};
