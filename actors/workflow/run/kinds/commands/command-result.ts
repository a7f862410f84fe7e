/** What a command's end means as a state's result (docs/reference/workflows.md). */

import { isObject, type Json } from "../../../../kernel/json.ts";
import type { CommandEnd, CommandEnded } from "../../activities.ts";
import { jsonBytes, maxResultBytes } from "../../blackboard/size.ts";
import type { StateResult } from "../../kind.ts";
import { commandFailure } from "../failure.ts";

/**
 * How a command ended; one that a fault of the service kept from ending has failed. Of what it wrote the end is kept,
 * as much as has room on the blackboard twice over.
 *
 * @param sharers commands whose results share that room
 */
export function endOf(outcome: CommandEnded, sharers = 1): CommandEnd {
  return outcome.ok ? fitting(outcome.value, sharers) : neverEnded(outcome.code, outcome.message);
}

/** What is told of a command that never ran, or of which nothing is left. */
export const nothingRan = {
  status: "failed",
  exit_code: null,
  stdout: "",
  stderr: "",
  duration_ms: 0,
  timed_out: false,
  truncated: false,
} as const;

const neverEnded = (error: string, message: string): CommandEnd => ({
  ...nothingRan,
  attempts: 1,
  error,
  warnings: [message],
});

/** Left for names, numbers and punctuation. */
const roomForTheRest = 262_144;

function fitting(end: CommandEnd, sharers: number): CommandEnd {
  const room = Math.floor((maxResultBytes - roomForTheRest) / (sharers * 4));
  const [stdout, stderr] = [lastOf(end.stdout, room), lastOf(end.stderr, room)];
  const isCut = stdout.length < end.stdout.length || stderr.length < end.stderr.length;
  return { ...end, stdout, stderr, truncated: end.truncated || isCut };
}

/** The end of a text that takes at most so many bytes as JSON. */
function lastOf(text: string, bytes: number): string {
  let last = text;
  for (let size = jsonBytes(last); size > bytes; size = jsonBytes(last)) {
    last = last.slice(-Math.floor((last.length * bytes) / (size + 1))).replace(/^[\uDC00-\uDFFF]/, "");
  }
  return last;
}

type Fields = { readonly [member: string]: Json };

/** Of System: its members stand once more under `output`. @param state its name */
export function systemResult(state: string, end: CommandEnd): StateResult {
  return mirrored(`The command of ${state}`, end, shownOf(end));
}

/** Of ContainerRun: as System's, with its attempts. */
export function containerResult(state: string, end: CommandEnd): StateResult {
  return mirrored(`The container of ${state}`, end, { ...shownOf(end), attempts: end.attempts });
}

/** Of one step of ParallelContainerRun, for `results`. */
export function stepResult(state: string, name: string, end: CommandEnd): StateResult {
  return { name, status: end.status, ...shownOf(end), ...notesOf(`The container ${name} of ${state}`, end) };
}

function shownOf({ exit_code, stdout, stderr, duration_ms, timed_out, truncated }: CommandEnd): Fields {
  return { exit_code, stdout, stderr, duration_ms, timed_out, truncated };
}

function mirrored(what: string, end: CommandEnd, shown: Fields): StateResult {
  return { status: end.status, ...shown, ...notesOf(what, end), output: { status: end.status, ...shown } };
}

/** Only what there is to say: why it failed, and what was not done as asked. */
function notesOf(what: string, end: CommandEnd): Fields {
  const { status, warnings } = end;
  return {
    ...(status === "success" ? {} : { ...commandFailure(what, end) }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** A ContainerRun's result whose standard output an output handler has replaced. */
export function withStdout(result: StateResult, stdout: string): StateResult {
  const { output } = result;
  return { ...result, stdout, output: isObject(output) ? { ...output, stdout } : { stdout } };
}
