/**
 * Map: a state for each item of a list. The run hands its items, in their order, to child records (`batch.ts`) and
 * gives each of them slots, as many in all as the Map's concurrency; what they cannot use any more comes back and goes to
 * others. The results are put together from what the items left, once all have ended or too many have failed.
 *
 * A child record is an actor of the same kind. There this state is what the whole record is at, its items are the lines,
 * and `batch.ts` takes the place of this file.
 */
import { iso } from "../../../kernel/time.ts";
import type { MapState } from "../../definition/composed-states.ts";
import type { Definition } from "../../definition.ts";
import { mapResults } from "../activities/map-results.ts";
import { jsonBytes } from "../blackboard/size.ts";
import { immediately, type KindOfState, type StateResult } from "../kind.ts";
import { workflowRunProtocol } from "../messages.ts";
import { settle } from "../settling.ts";
import type { RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { WorkOf } from "../work.ts";
import { itemsOf, readBy } from "./items.ts";
import { counts, freeSlots, isComplete, isOrdered, isTooMany, type OpenBatch } from "./progress.ts";
import { itemsFact } from "./rows.ts";

type MapWork = WorkOf<"map">;

/** Progress is told at most so often, ms. */
const progressEveryMs = 1_000;

export const mapKind: KindOfState<"Map"> = {
  enter(run, state) {
    const items = itemsOf(run, state.items);
    const total = items.length;
    run.fact(itemsFact, { of: "map", ...placeOf(run), total, ended: total === 0 });
    if (total === 0) return immediately(run, { status: "success", results: [], failed: [], succeeded: 0, total });
    run.change({ items });
    run.work({
      of: "map",
      phase: "running",
      total,
      handed: 0,
      skipped: [],
      batches: [],
      succeeded: 0,
      is_lost: false,
      told_at: null,
    });
  },

  leave(run, reason) {
    const { work } = run.current;
    if (work.of !== "map") return;
    if (work.phase === "collecting") run.abandon(collectId(run));
    else giveUp(run, work, reason);
  },

  overdue(run) {
    const { total, ...work } = run.workOf("map");
    const { succeeded } = counts(work);
    return { status: "failed", results: [], failed: [], succeeded, total, error: "state_timeout", timed_out: true };
  },

  goOn(run) {
    const { work } = run.current;
    if (work.of !== "map" || work.phase !== "running") return false;
    const { failed } = counts(work);
    const isLost = isTooMany(failed, work.total, run.stateOf("Map").tolerate);
    // One that failed may just be tried again, by an order that its report does not know of.
    if ((isLost || isComplete(work)) && isOrdered(work)) {
      beginCollecting(run, { ...work, is_lost: isLost });
      return true;
    }
    return !isLost && run.state.paused_at === null && distribute(run, work);
  },

  mapCollected(run, outcome) {
    const work = run.workOf("map");
    if (work.phase !== "collecting") return;
    if (!outcome.ok) {
      settle(run, { status: "failed", error: outcome.code, message: outcome.message });
      return;
    }
    const { results, failed } = outcome.value;
    const { succeeded, total, is_lost } = work;
    const result = { results, failed, succeeded, total };
    settle(
      run,
      is_lost ? { status: "failed", ...result, ...lostResult(failed.length, total) } : { status: "success", ...result },
    );
  },
};

const lostResult = (failed: number, total: number): Omit<StateResult, "status"> => ({
  error: "too_many_failed",
  message: `${failed} of ${total} items failed`,
});

/** Slots that are free go to child records with items that wait, then to new ones. @returns whether there were any */
function distribute(run: RunTurn, before: MapWork): boolean {
  const state = run.stateOf("Map");
  let free = freeSlots(state.concurrency, before.batches);
  if (free <= 0) return false;
  let isMoving = false;
  const batches = before.batches.map((batch) => {
    const slots = Math.min(free, batch.todo);
    if (slots === 0) return batch;
    free -= slots;
    isMoving = true;
    // Never in the same commit: it must not come before the message that begins the record.
    run.tell(workflowRunProtocol, batch.id, "slots_granted", { slots });
    return { ...batch, granted: batch.granted + slots, todo: batch.todo - slots };
  });
  run.work({ ...before, batches });
  if (free === 0 || before.handed === before.total) return isMoving;
  return openSome(run, state, free) || isMoving;
}

/** Bytes that child records have of the blackboard: of those opened in one turn, and of all. */
const mostOpenedBytes = 8 * 1_048_576;
const mostCopiedBytes = 8 * mostOpenedBytes;

/** @returns whether all were opened that there are slots for; others follow in a turn of their own */
function openSome(run: RunTurn, state: MapState, slots: number): boolean {
  const copy = readBy(state, run.state.blackboard);
  const bytes = copy === run.state.blackboard ? run.state.blackboard_bytes : jsonBytes(copy);
  // Where each would be large, a few have more items each.
  const least = Math.ceil(state.concurrency / Math.max(1, Math.floor(mostCopiedBytes / bytes)));
  const most = Math.max(1, Math.floor(mostOpenedBytes / bytes));
  let free = slots;
  for (let count = 0; free > 0 && run.workOf("map").handed < run.workOf("map").total; count++) {
    if (count === most) {
      run.tell(workflowRunProtocol, run.id, "advance", { entry: run.current.entry });
      return false;
    }
    free -= open(run, state, free, copy, Math.max(state.batch, least));
  }
  return true;
}

/** Opens the next child record. @returns the slots that it was given */
function open(run: RunTurn, state: MapState, free: number, copy: RunState["blackboard"], most: number): number {
  const work = run.workOf("map");
  const { items = [], header, definition } = run.state;
  const size = Math.min(most, work.total - work.handed);
  const end = work.handed + size;
  const skip = work.skipped.filter((index) => index < end);
  const slots = Math.min(free, Math.max(1, size - skip.length));
  const id = run.context.newIdBeside(workflowRunProtocol);
  const { attempt, ...place } = placeOf(run);
  const batch = { ...place, entry: run.current.entry, first: work.handed, ...(attempt === 1 ? {} : { attempt }) };
  const body = {
    header: { ...header, parent: null, timeout_ms: null, batch },
    definition: definitionFor(definition, place.state_name, state),
    blackboard: copy,
    items: items.slice(0, size),
    skip,
    slots,
  };
  run.tell(workflowRunProtocol, id, "open_items", body, { coCommit: true });
  const zeros = { ordered: 0, seq: 0, succeeded: 0, failed: 0, cancelled: 0, returned: 0, orders: 0 };
  const opened: OpenBatch = { id, first: work.handed, size, granted: slots, todo: 0, ...zeros };
  opened.todo = Math.max(0, size - skip.length - slots);
  opened.cancelled = skip.length;
  run.change({ items: items.slice(size) });
  run.work({
    ...work,
    handed: end,
    skipped: work.skipped.filter((index) => index >= end),
    batches: [...work.batches, opened],
  });
  return slots;
}

/** The Map without its list, and the states whose names an item could write by mistake. */
function definitionFor({ schedules: _, ...definition }: Definition, name: string, state: MapState): Definition {
  const written = state.item.kind === "System" ? state.item.env : {};
  const others = Object.entries(definition.states).filter(([one]) => one !== name && Object.hasOwn(written, one));
  const states = { ...Object.fromEntries(others), [name]: { ...state, items: null } };
  return { ...definition, context: {}, input_schema: null, output_schema: null, output_template: null, states };
}

/** All is over: what is still open is given up, and the results are put together. */
function beginCollecting(run: RunTurn, work: MapWork): void {
  const { succeeded, failed } = counts(work);
  giveUp(run, work, work.is_lost ? "too_many_failed" : "map_ended");
  run.change({ items: [] });
  run.work({ ...work, phase: "collecting", batches: [], skipped: [], succeeded });
  const { total } = work;
  run.perform(mapResults, { ...placeOf(run), total }, { id: collectId(run), then: "map_collected" });
  if (!isTold(run, work)) tellProgress(run, succeeded, failed, total);
}

/** Whether this very turn told progress. */
function isTold(run: RunTurn, { told_at }: MapWork): boolean {
  const before = run.before.current?.work;
  return before?.of === "map" && before.told_at !== told_at;
}

function giveUp(run: RunTurn, { batches, total }: MapWork, reason: string): void {
  for (const { id } of batches) run.tell(workflowRunProtocol, id, "close_items", { reason });
  // Of an erased run no row stays.
  if (reason !== "deleted") run.fact(itemsFact, { of: "map", ...placeOf(run), total, ended: true });
}

/** After a report. */
export function noteProgress(run: RunTurn): void {
  const work = run.workOf("map");
  const { succeeded, failed } = counts(work);
  // A Map that is over within a second tells of its end alone.
  if (succeeded + failed === 0 || run.now - (work.told_at ?? run.current.entered_at) < progressEveryMs) return;
  run.work({ ...work, told_at: run.now });
  tellProgress(run, succeeded, failed, work.total);
}

function tellProgress(run: RunTurn, succeeded: number, failed: number, total: number): void {
  const { name } = run.current;
  run.emit("WorkflowMapProgress", {
    message: `${name}: ${succeeded} of ${total} items succeeded, ${failed} failed, at ${iso(run.now)}`,
    state_name: name,
    details: { state_name: name, succeeded, failed, total },
  });
}

/** Of the entry and the attempt at work. */
const collectId = (run: RunTurn): string => `map:${run.id}:${run.current.entry}:${run.current.attempt ?? 1}`;

/** Where the items of the state at work stand. */
export function placeOf(run: RunTurn) {
  const { name, visit, attempt = 1 } = run.current;
  return { run_id: run.id, state_name: name, visit, attempt };
}
