/** How a run waits for a stimulus: what it watches for, what it is told, and what it puts on record of what it took. */
import { type Static, Type } from "@sinclair/typebox";
import { defineActivity, type Outcome, outcomeOf } from "../../../kernel/activity.ts";
import { defineFact } from "../../../kernel/effect.ts";
import { AnyJson } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";

/** The stimuli that a Wait takes; `actors/template/matching.ts` says which these are. */
export const Watch = Type.Object({
  /** Lower case. */
  source: Text,
  /** A path of the payload; null: any payload. */
  key: Nullable(Text),
  /** Rendered: what the value at `key` prints as; null as `key` is. */
  equals: Nullable(Text),
  /** An expression over `payload` and `headers`; null: any. */
  match: Nullable(Text),
});
export type Watch = Static<typeof Watch>;

/** How far a Wait looks back when it is entered, ms. */
export const lookBackMs = 3_600_000;

/** A stimulus as a Wait takes it. */
const Taken = Type.Object({ stimulus_id: Text, payload: AnyJson });
export type TakenStimulus = Static<typeof Taken>;

/**
 * Outcome: `stimulus_found`. Looks for the oldest stimulus since `since` (Unix ms) that fits and that the state has not
 * taken in this run yet; null where there is none. Fails with `too_many_waits` where too many others of the source wait
 * without a key. Repeatable.
 */
export const stimulusWatch = defineActivity({
  name: "workflow.stimulus.watch",
  input: Type.Composite([
    Watch,
    Type.Object({ entry: Type.Integer({ minimum: 1 }), state_name: Text, since: Type.Integer() }),
  ]),
  output: Type.Object({ stimulus: Nullable(Taken) }),
});
export type StimulusFound = Outcome<typeof stimulusWatch>;

/** Outcome: `stimulus_noted`. A stimulus that nothing routed was taken after all: it is no dead letter. Repeatable. */
export const stimulusNote = defineActivity({
  name: "workflow.stimulus.note",
  input: Type.Object({ stimulus_id: Text }),
  output: Type.Null(),
});

/** On record in the commit of the turn that takes a stimulus. */
export const stimulusTaken = defineFact(
  "stimulus_taken",
  Type.Object({
    stimulus_id: Text,
    /** The actor that took it: a run, or the child record of items of its Map. */
    taker: Text,
    /** The run. */
    run_id: Text,
    /** Of an item of a Map with its index behind it. */
    state_name: Text,
  }),
);

const StimulusArrival = Type.Composite([Taken, Type.Object({ entry: Type.Integer() })]);

export const stimulusMessages = {
  /** A stimulus that the Wait of this entry takes; repeatable. */
  stimulus_arrived: message({ body: StimulusArrival, reply: Type.Object({ taken: Type.Boolean() }) }),
  /** Outcomes of activities. */
  stimulus_found: message({ body: outcomeOf(stimulusWatch) }),
  stimulus_noted: message({ body: outcomeOf(stimulusNote) }),
};
