/** What a run at a Map, and its child records, do with the messages between them. */
import type { Receive } from "../../../kernel/actor.ts";
import { fact, reply, tell } from "../../../kernel/effect.ts";
import type { Context } from "../../../kernel/turn.ts";
import { notePeople } from "../children/people.ts";
import { guarded } from "../guarded.ts";
import { type WorkflowRunMessages, workflowRunProtocol } from "../messages.ts";
import { isOver, type RunState } from "../state.ts";
import { type Result, RunTurn, unchanged } from "../turn.ts";
import { firstBatch } from "./batch.ts";
import { close } from "./closing.ts";
import { mapKind, noteProgress, placeOf } from "./map.ts";
import type { ItemReply, mapMessages, Order } from "./messages.ts";
import { order } from "./orders.ts";
import { reported } from "./progress.ts";
import { itemsFact } from "./rows.ts";

/** Takes a step of a run that is not over, and what comes next. */
type Within = (state: RunState | null, context: Context, step: (run: RunTurn) => void) => Result<never>;

export const mapReceive = (within: Within): Pick<Receive<RunState, WorkflowRunMessages>, keyof typeof mapMessages> => ({
  open_items: (state, body, context) =>
    state === null ? within(firstBatch(body, context), context, () => {}) : unchanged(state),

  close_items(state, { reason }, context) {
    if (state === null || state.header.batch === undefined) return unchanged(state);
    const run = new RunTurn(state, context);
    close(run, reason);
    return run.turn();
  },

  slots_granted: (state, { slots }, context) =>
    within(state, context, (run) => {
      if (run.state.current?.work.of !== "batch") return;
      const work = run.workOf("batch");
      run.work({ ...work, slots: work.slots + slots });
    }),

  item_ordered(state, { index, order: what, caller }, context) {
    if (state === null) {
      const answer = caller === null ? [] : [reply(workflowRunProtocol.messages.item, caller, notRunning)];
      return { state, effects: answer };
    }
    return within(state, context, (run) => {
      if (run.state.current?.work.of !== "batch") return;
      const { visit } = run.current;
      const status = order(run, index, what);
      const answer: ItemReply = status === null ? { outcome: "done", visit } : { outcome: "refused", status };
      if (caller !== null) run.reply("item", caller, answer);
    });
  },

  items_reported(state, report, context) {
    if (state === null) {
      // The run was erased, and rows of the record may have come after that.
      const closing = tell(workflowRunProtocol, report.batch, "close_items", { reason: "deleted" });
      const gone = fact(itemsFact, { of: "gone", run_id: context.key });
      return { state, effects: report.is_gone ? [gone] : [gone, closing] };
    }
    const work = state.current?.work;
    const isKnown = work?.of === "map" && work.batches.some(({ id }) => id === report.batch);
    if (!isKnown) {
      // The Map is over: what it opened may not have heard of that.
      const closing = tell(workflowRunProtocol, report.batch, "close_items", { reason: "map_ended" });
      return { state, effects: report.is_gone ? [] : [closing] };
    }
    return within(state, context, (run) => {
      const { batches, succeeded } = run.workOf("map");
      const after = reported(batches, report);
      const gone = after.length < batches.length ? report.succeeded : 0;
      run.work({ ...run.workOf("map"), batches: after, succeeded: succeeded + gone });
      noteProgress(run);
    });
  },

  item_people: (state, { batch, index, asked, decided }, context) =>
    within(state, context, (run) => {
      const work = run.state.current?.work;
      const isKnown = work?.of === "map" && work.batches.some(({ id }) => id === batch);
      if (isKnown) notePeople(run, { asked, decided }, index);
    }),

  map_collected: (state, outcome, context) =>
    within(state, context, (run) => {
      const { current } = run.state;
      if (current?.work.of !== "map") return;
      const { entry, attempt = 1 } = current;
      if (outcome.id !== `map:${run.id}:${entry}:${attempt}`) return;
      guarded(run, () => mapKind.mapCollected?.(run, outcome));
    }),

  item(state, { state: name, index, order: what }, context) {
    const current = state?.current ?? null;
    if (state === null || isOver(state) || current === null) return unchanged(state, notRunning);
    const { work } = current;
    if (current.name !== name || work.of !== "map" || work.phase !== "running") return unchanged(state, notRunning);
    if (index >= work.total) return unchanged(state, { outcome: "no_item" });
    if (index >= work.handed) {
      const isSkipped = work.skipped.includes(index);
      if (what === "retry" && !isSkipped) return unchanged(state, { outcome: "refused", status: "pending" });
      const turn = within(state, context, (run) => skip(run, index, what));
      return { ...turn, reply: { outcome: "done", visit: current.visit } };
    }
    const batch = work.batches.find(({ first, size }) => index >= first && index < first + size);
    if (batch === undefined) return unchanged(state, { outcome: "refused", status: "completed" });
    return within(state, context, (run) => {
      const ordered = (one: typeof batch) => (one.id === batch.id ? { ...one, ordered: one.ordered + 1 } : one);
      run.work({ ...run.workOf("map"), batches: work.batches.map(ordered) });
      const { replyTo } = context;
      run.tell(workflowRunProtocol, batch.id, "item_ordered", {
        index,
        order: what,
        caller: replyTo === null ? null : { ...replyTo },
      });
    });
  },
});

const notRunning: ItemReply = { outcome: "not_running" };

/** An item that no child record was given is left out, or is not any more. */
function skip(run: RunTurn, index: number, what: Order): void {
  const work = run.workOf("map");
  const others = work.skipped.filter((one) => one !== index);
  const status = what === "cancel" ? "cancelled" : "pending";
  run.work({ ...work, skipped: what === "cancel" ? [...others, index] : others });
  const row = { index, status, attempts: 0, result: null, error: null, execution_id: null } as const;
  run.fact(itemsFact, { of: "items", ...placeOf(run), items: [row] });
}

/** Child records begin no further item while their run is paused. */
export function tellBatches(run: RunTurn, type: "pause" | "resume"): void {
  const work = run.state.current?.work;
  if (work?.of !== "map") return;
  for (const { id } of work.batches) run.tell(workflowRunProtocol, id, type, {});
}
