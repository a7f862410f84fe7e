/** A Wait for a stimulus: it watches from its entry on, and takes the first one that fits, which the run puts on record. */

import type { Effect } from "../../kernel/effect.ts";
import type { TakenStimulus, Watch } from "./activities/stimulus.ts";
import { lookBackMs, type StimulusFound, stimulusNote, stimulusTaken, stimulusWatch } from "./activities/stimulus.ts";
import type { AnyKind } from "./kind.ts";
import type { RunTurn } from "./turn.ts";
import type { Current } from "./work.ts";

/** What takes stimuli, each once: a state, in a Map one of its items. @param item its index; null: none */
export const takingName = (state: string, item: number | null): string => (item === null ? state : `${state}[${item}]`);

/** Looks back for what came before the state at work was entered. What comes from now on finds it by its work (`of: "wait"`). */
export function lookBack(run: RunTurn, watch: Watch): void {
  const { entry, name, entered_at } = run.current;
  const state_name = takingName(name, run.itemIndex);
  const input = { ...watch, entry, state_name, since: entered_at - lookBackMs };
  run.perform(stimulusWatch, input, { id: watchId(run.id, entry), then: "stimulus_found" });
}

/** Gives the look back up. */
export function stopLookingBack(run: RunTurn): void {
  run.abandon(watchId(run.id, run.current.entry));
}

/** Of the watch of an entry. */
const watchId = (runId: string, entry: number): string => `stimulus:${runId}:${entry}`;
/** Of the note that a stimulus was taken by an entry. */
const noteId = (runId: string, entry: number): string => `stimulus_taken:${runId}:${entry}`;

/** Whether a state waits for a stimulus. */
export function waitsForStimulus({ work }: Pick<Current, "work">): boolean {
  return work.of === "wait" && work.on === "stimulus";
}

/** Whether an outcome of the look back is of this entry. */
export const concernsWatch =
  (runId: string, { id }: Pick<StimulusFound, "id">) =>
  (current: Current): boolean =>
    waitsForStimulus(current) && id === watchId(runId, current.entry);

/** Has the state at work take a stimulus, and puts that on record. @param isFound by looking back */
export function take(kind: AnyKind, run: RunTurn, stimulus: TakenStimulus, isFound: boolean): void {
  const { name, entry } = run.current;
  const { stimulus_id } = stimulus;
  const run_id = run.state.header.batch?.run_id ?? run.id;
  run.fact(stimulusTaken, { stimulus_id, taker: run.id, run_id, state_name: takingName(name, run.itemIndex) });
  if (isFound) run.perform(stimulusNote, { stimulus_id }, { id: noteId(run.id, entry), then: "stimulus_noted" });
  else stopLookingBack(run);
  kind.stimulusTaken?.(run, stimulus);
}

/** Whether a turn with this effect takes a stimulus. */
export const isTaking = (effect: Effect): boolean => effect.effect === "fact" && effect.name === stimulusTaken.name;
