/** The start of a run that follows another one. */
import { type Static, Type } from "@sinclair/typebox";
import { defineActivity } from "../../../kernel/activity.ts";
import { AnyJson } from "../../../kernel/json.ts";
import { Text } from "../../../kernel/schema.ts";
import { Definition } from "../../definition.ts";
import { RunHeader } from "../state.ts";

/** What a pending run begins with: its workflow as it is then, and its volumes. */
export const Admitted = Type.Object({ header: RunHeader, definition: Definition, input: AnyJson });
export type Admitted = Static<typeof Admitted>;

/**
 * Outcome: `admitted`. Waits until the start rates admit the pending run, and settles what it begins with; repeatable.
 * A failure is for good.
 */
export const admission = defineActivity({
  name: "workflow.admission",
  input: Type.Object({ continued_from: Text }),
  output: Admitted,
});

/**
 * @param runId of the pending run
 * @param deaths of the work that asked before without an answer
 */
export const admissionId = (runId: string, deaths = 0): string =>
  deaths === 0 ? `admission:${runId}` : `admission:${runId}:${deaths}`;
