/** Follows a run to its end. */
import { answer, type Client } from "../../../client/client.ts";
import type { Context } from "../../frame/context.ts";
import { followed } from "../../frame/following.ts";
import type { Colours } from "../../output/colours.ts";
import { type Safe, say } from "../../output/inert.ts";
import type { Exit } from "../../process/exits.ts";

const ends: Readonly<Record<string, Exit>> = {
  WorkflowExecutionCompleted: "ok",
  WorkflowExecutionFailed: "failed",
  WorkflowExecutionCancelled: "cancelled",
  WorkflowExecutionTimedOut: "deadline",
};

/** What the log holds; every entry has a sentence for people. */
export interface RunEvent {
  readonly type: string;
  readonly message: string;
}

export function runEventOf(data: unknown): RunEvent | null {
  const { type, message } =
    typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  return typeof type === "string" && typeof message === "string" ? { type, message } : null;
}

const marks: readonly (readonly [RegExp, keyof Colours, string])[] = [
  [/Completed$|Exited$|Joined$/, "green", "✓"],
  [/Failed$|TimedOut$|Exceeded$|Rejected$/, "red", "✗"],
  [/Cancelled$/, "yellow", "■"],
  [/Waiting|Requested|Paused|Retried|Buffered/, "yellow", "⏸"],
  [/Entered$|Started$/, "cyan", "→"],
];

export function runEventText({ type, message }: RunEvent, colours: Colours): Safe {
  // A state is left in any case; its result says how.
  const isFailed = type === "WorkflowStateExited" && / came to (?!success|approved|completed)/.test(message);
  const known = marks.find(([pattern]) => pattern.test(isFailed ? "Failed" : type));
  const [, colour, mark] = known ?? [null, "dim" as const, "·"];
  return say`${colours[colour](mark)} ${message}`;
}

export const isOver = (type: string): boolean => ends[type] !== undefined;

/** The state of a run → how it ended; null: it goes on. */
export const endOfRun = (status: string): Exit | null =>
  (({ completed: "ok", failed: "failed", cancelled: "cancelled", timed_out: "deadline" }) as const)[
    status as "completed"
  ] ?? null;

/**
 * Progress goes to standard error, the run's output alone to standard output; with `--json` the whole record.
 * @param isQuiet leaves the progress out
 */
export async function watchRun(context: Context, client: Client, id: string, isQuiet = false): Promise<Exit> {
  const { out } = context;
  const end = await followed<Exit>(context, client, {
    path: `/v1/workflows/executions/${encodeURIComponent(id)}/stream`,
    detached: `Detached; the run goes on. \`svc runs watch ${id}\` follows it again, \`svc runs cancel ${id}\` ends it.`,
    told({ data }) {
      const event = runEventOf(data);
      if (event === null) return undefined;
      if (!isQuiet) out.note(runEventText(event, out.noteColours));
      return ends[event.type];
    },
  });
  if (end === null) return "failed";
  const record = await answer(client.GET("/v1/workflows/executions/{id}", { params: { path: { id } } }));
  await out.data(record);
  if (out.format === "text" && record.final_output !== null) out.content(`${outputText(record.final_output)}\n`);
  return end;
}

/** A text as it is, anything else as JSON. */
export const outputText = (output: unknown): string =>
  typeof output === "string" ? output : JSON.stringify(output, null, 2);
