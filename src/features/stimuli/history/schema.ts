/** The wire shapes of the history of stimuli; see docs/reference/stimuli.md. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../../actors/kernel/schema.ts";
import { ClassificationDetail, StimulusElement, StimulusRecord } from "../../../../actors/stimulus/record.ts";
import { pagingQuery } from "../../../http/paging.ts";
import { Uuid } from "../../../http/route.ts";
import { Received, Routed } from "../intake/port.ts";

const TextOrNull = Nullable(Text);
const Word = Type.Optional(Type.String({ maxLength: 128 }));
const Moment = Type.Optional(Type.String({ maxLength: 64, description: "A timestamp; included" }));

export const DeadLettersQuery = Type.Object({
  source: Word,
  status: Type.Optional(Type.String({ maxLength: 200, description: "Comma list" })),
  channel: Type.Optional(Type.Union([Type.Literal("api"), Type.Literal("webhook"), Type.Literal("replay")])),
  workflow_execution_id: Type.Optional(Uuid),
  from: Moment,
  to: Moment,
  ...pagingQuery,
});
export const StimuliQuery = Type.Composite([
  DeadLettersQuery,
  Type.Object({ dead_letter: Type.Optional(Type.Boolean()) }),
]);
export type StimuliQuery = Static<typeof StimuliQuery>;

/** The record, and once more under a name of its own. */
export const StimulusDetail = Type.Composite([StimulusRecord, Type.Object({ stimulus: StimulusRecord })]);

const Reference = Type.String({ minLength: 1, maxLength: 200 });
export const ReplayBody = Type.Object(
  {
    workflow: Type.Optional(Reference),
    workflow_version: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    force: Type.Optional(Type.Boolean()),
  },
  { examples: [{ workflow: "on-push", force: true }] },
);
export type ReplayBody = Static<typeof ReplayBody>;

const replayed = Type.Object({ replay_of: Text });
export const ReplayRouted = Type.Composite([Routed, replayed]);
/** Taken in; it is routed in the background. */
export const ReplayReceived = Type.Composite([Received, replayed]);

export const BulkReplayBody = Type.Object({ ids: Type.Array(Uuid, { minItems: 1, maxItems: 100 }) });
export const BulkReplayed = Type.Object({
  results: Type.Array(
    Type.Object({ id: Text, stimulus_id: TextOrNull, workflow_execution_id: TextOrNull, code: TextOrNull }),
  ),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
});
export type BulkReplayed = Static<typeof BulkReplayed>;

export const DiscardBody = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 1024 })) },
  { examples: [{ reason: "A test" }] },
);

/** By the names that the API document gives them. */
export const named = {
  Stimulus: StimulusRecord,
  StimulusDetail,
  StimulusElement,
  StimulusClassification: ClassificationDetail,
  ReplayStimulus: ReplayBody,
  StimulusReplayed: ReplayRouted,
  ReplayReceived,
  ReplayStimuli: BulkReplayBody,
  StimuliReplayed: BulkReplayed,
  DiscardStimulus: DiscardBody,
};
