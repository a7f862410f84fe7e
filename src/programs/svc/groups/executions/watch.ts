/** Follows an execution to its end. */
import { answer, type Client } from "../../../client/client.ts";
import type { Context } from "../../frame/context.ts";
import { followed } from "../../frame/following.ts";
import type { Exit } from "../../process/exits.ts";
import { eventText, partsOf } from "./events.ts";

const ends: Readonly<Record<string, Exit>> = {
  execution_completed: "ok",
  execution_failed: "failed",
  execution_cancelled: "cancelled",
  execution_timed_out: "deadline",
};

/** How an execution of this status ended; null: it goes on. */
export const endOf = (status: string): Exit | null => ends[`execution_${status}`] ?? null;

/**
 * Progress goes to standard error, the output of the agent alone to standard output; with `--json` the whole record.
 * @param isQuiet leaves the progress out
 */
export async function watchExecution(context: Context, client: Client, id: string, isQuiet = false): Promise<Exit> {
  const { out } = context;
  const end = await followed<Exit>(context, client, {
    path: `/v1/executions/${encodeURIComponent(id)}/stream`,
    detached: `Detached; the execution goes on. \`svc executions watch ${id}\` follows it again, \`svc executions cancel ${id}\` ends it.`,
    told({ data }) {
      const event = partsOf(data);
      if (event === null) return undefined;
      const text = isQuiet ? null : eventText(event, out.noteColours);
      if (text !== null) out.note(text);
      return ends[event.name];
    },
  });
  if (end === null) return "failed";
  const record = await answer(client.GET("/v1/executions/{id}", { params: { path: { id } } }));
  await out.data(record);
  const { output } = record;
  if (out.format === "text" && output !== null && output !== "") out.content(output.replace(/\n?$/, "\n"));
  return end;
}
