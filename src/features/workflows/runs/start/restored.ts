/** Reads the blackboard that a run had at one of its visits from its logs, a page at a time. */
import { workflowEvents } from "../../../../../actors/workflow/run/record/events.ts";
import { type StoredWrites, workflowWrites } from "../../../../../actors/workflow/run/record/writes.ts";
import type { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { type Restored, Restoring } from "../../../../../actors/workflow/run/start/restoring.ts";
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import type { ActorHandle } from "../../../../runtime/port.ts";

/** Entries of a log read at once; each may hold a large value. */
const atOnce = 20;

export async function restoredOf(
  run: ActorHandle<typeof workflowRun>,
  { recorded }: Pick<RunState, "recorded">,
  state: string,
  visit: number,
): Promise<Restored> {
  if (recorded !== true) return "not_recorded";
  const writes = writesOf(run);
  const restoring = new Restoring({ state, visit });
  for await (const page of run.logPages(workflowEvents, 0, atOnce)) {
    for (const { entry } of page) {
      await restoring.event(entry, writes);
      if (restoring.restored !== null) return restoring.restored;
    }
  }
  return restoring.end();
}

/** Gives what was written up to an entry and was not given before. */
function writesOf(run: ActorHandle<typeof workflowRun>): (entry: number) => Promise<readonly StoredWrites[]> {
  const pages = run.logPages(workflowWrites, 0, atOnce)[Symbol.asyncIterator]();
  let waiting: StoredWrites[] = [];
  let isDone = false;
  return async (entry) => {
    const given: StoredWrites[] = [];
    for (;;) {
      const later = waiting.findIndex((one) => one.entry > entry);
      given.push(...waiting.splice(0, later < 0 ? waiting.length : later));
      if (later >= 0 || isDone) return given;
      const page = await pages.next();
      isDone = page.done === true;
      waiting = page.done === true ? [] : page.value.map((one) => one.entry);
    }
  };
}
