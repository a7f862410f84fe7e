/**
 * `continue_as`: a run that completes in a state that names a successor starts it in the same commit. The successor is
 * `pending` until the start rates admit it (`../activities/admission.ts`), and takes its workflow as it is then.
 */
import type { Json } from "../../../kernel/json.ts";
import { jsonOrText } from "../../../kernel/json.ts";
import type { BodyOf } from "../../../kernel/message.ts";
import type { Context } from "../../../kernel/turn.ts";
import { type Admitted, admission, admissionId } from "../activities/admission.ts";
import { firstState } from "../blackboard/seed.ts";
import { type WorkflowRunMessages, workflowRunProtocol } from "../messages.ts";
import { keptSignals } from "../signals/signals.ts";
import type { RunHeader, RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";

const maxAdmissionDeaths = 5;

export type Follow = BodyOf<WorkflowRunMessages["follow"]>;

/**
 * What follows the run, which completes in its last state; null: nothing does.
 * @throws TemplateError
 */
export function followerOf(run: RunTurn): { readonly input: Json } | null {
  const { definition, current_state } = run.state;
  const next = current_state === null ? undefined : definition.states[current_state]?.continue_as;
  if (next === undefined) return null;
  const input = renderedInput(run, next.input);
  return { input: typeof input === "string" ? jsonOrText(input) : input };
}

/** Texts at any depth, each with the type of the value that it stands for alone. @throws TemplateError */
function renderedInput(run: RunTurn, value: Json): Json {
  if (typeof value === "string") return run.renderTyped(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one: Json) => renderedInput(run, one));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, renderedInput(run, member ?? null)]));
}

/** Starts the run that follows, in the commit of this turn. */
export function startFollower(run: RunTurn, { input }: { readonly input: Json }): void {
  const { header, definition } = run.state;
  const id = run.context.newIdBeside(workflowRunProtocol);
  const signals = [...keptSignals(run.state, run.now)];
  const follow: Follow = { header: followerHeader(header, run.id, id), definition, input, signals };
  run.tell(workflowRunProtocol, id, "follow", follow, { coCommit: true });
  run.change({ continued_as: id, ...(run.state.signals === undefined ? {} : { signals: [] }) });
  run.emit("WorkflowExecutionContinued", { message: "Another run follows", details: { continued_as: id } });
}

/** For the same starter, under the same context and ceilings, in the same volumes as far as they outlive runs. */
function followerHeader(header: RunHeader, formerId: string, id: string): RunHeader {
  const { retry_of: _, forked_from: __, ...kept } = header;
  return {
    ...kept,
    parent: null,
    depth: 0,
    root_execution_id: id,
    path: [],
    retry_of: null,
    stimulus_id: null,
    continued_from: formerId,
    volumes: header.volumes.filter(({ storage_class }) => storage_class === "persistent"),
  };
}

/** A run that waits for its admission. Until then it shows the workflow of the run that it follows. */
export function pendingState({ header, definition, input, signals }: Follow, context: Context): RunState {
  const state = firstState({ header, definition, input, overrides: {}, resume: null }, context);
  return { ...state, status: "pending", next: null, ...(signals.length === 0 ? {} : { signals }) };
}

/** Asks for the admission of a pending run. */
export function askForAdmission(run: RunTurn): void {
  const { header, admission_deaths } = run.state;
  const input = { continued_from: header.continued_from ?? "" };
  run.perform(admission, input, { id: admissionId(run.id, admission_deaths), then: "admitted" });
}

/**
 * The work of the admission has ended without an answer, as its processes died: the run is asked for again. A link of a
 * chain is not lost with a node.
 * @returns false once that happened too often
 */
export function askAgain(run: RunTurn): boolean {
  const { admission_deaths = 0 } = run.state;
  if (admission_deaths >= maxAdmissionDeaths) return false;
  run.change({ admission_deaths: admission_deaths + 1 });
  askForAdmission(run);
  return true;
}

/** The pending run as it begins: what it was told meanwhile stays. */
export function admittedState(pending: RunState, { header, definition, input }: Admitted, context: Context): RunState {
  const began = { ...context, now: pending.started_at };
  const state = firstState({ header, definition, input, overrides: {}, resume: null }, began);
  return { ...pending, ...state, paused_at: pending.paused_at, last_transition_at: context.now };
}
