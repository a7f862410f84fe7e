/**
 * Wait: for a time, a signal or a stimulus. Nothing works for it: it is the run's row and a timer. A signal is given to
 * it by the run (`../signals/signals.ts`), a stimulus by who takes them in (`../watching.ts`).
 */
import type { Watch } from "../activities/stimulus.ts";
import { immediately, type KindOfState, StateFault, type StateOf, type StateResult } from "../kind.ts";
import { workflowRunProtocol } from "../messages.ts";
import { settle } from "../settling.ts";
import type { RunTurn } from "../turn.ts";
import { lookBack, stopLookingBack } from "../watching.ts";
import type { WorkOf } from "../work.ts";
import { afterSeconds, momentOf } from "./wait-time.ts";

type Awaited = StateOf<"Wait">["for"];

export const waitKind: KindOfState<"Wait"> = {
  enter(run, { for: awaited }) {
    switch (awaited.what) {
      case "seconds":
        return waitUntil(run, afterSeconds(run.render(awaited.seconds), run.now));
      case "until":
        return waitUntil(run, momentOf(run.render(awaited.until), run.now));
      case "signal":
        begin(run, { on: "signal", signal: awaited.signal });
        return tellRun(run, awaited.signal);
      default: {
        const watch = watchOf(run, awaited);
        begin(run, { on: "stimulus", watch });
        return lookBack(run, watch);
      }
    }
  },

  leave(run) {
    const { work, entry } = run.current;
    if (work.of !== "wait") return;
    if (work.on === "stimulus") stopLookingBack(run);
    const { batch } = run.state.header;
    if (work.on !== "signal" || batch === undefined) return;
    run.tell(workflowRunProtocol, batch.run_id, "item_left", { record: run.id, entry }, { coCommit: true });
  },

  overdue(run): StateResult {
    const isDone = run.workOf("wait").on === "time";
    return { status: isDone ? "success" : "failed", by: "time", ...waited(run), timed_out: !isDone };
  },

  signalled(run, signal) {
    settle(run, { status: "success", by: "signal", ...waited(run), ...signal, timed_out: false });
  },

  stimulusTaken(run, { stimulus_id, payload }) {
    settle(run, { status: "success", by: "stimulus", ...waited(run), payload, stimulus_id, timed_out: false });
  },

  watchFailed(run, { code, message }) {
    settle(run, { status: "failed", by: "stimulus", ...waited(run), error: code, message, timed_out: false });
  },
};

/** The time is the deadline of the state, which the engine keeps. */
function waitUntil(run: RunTurn, until: number): void {
  if (until > run.now) {
    run.move({ current: { ...run.current, deadline_at: until } });
    begin(run, { on: "time" });
  } else {
    immediately(run, { status: "success", by: "time", waited_ms: 0, timed_out: false });
  }
}

function begin(
  run: RunTurn,
  { on, signal = null, watch = null }: Pick<WorkOf<"wait">, "on"> & Partial<WorkOf<"wait">>,
): void {
  run.work({ of: "wait", on, since: run.now, until: run.current.deadline_at, signal, watch });
}

/** Signals reach an item by way of its run. */
function tellRun(run: RunTurn, signal: string): void {
  const { batch } = run.state.header;
  if (batch === undefined) return;
  const item = { record: run.id, entry: run.current.entry, map_entry: batch.entry, signal };
  run.tell(workflowRunProtocol, batch.run_id, "item_waits", item, { coCommit: true });
}

/** @throws StateFault, TemplateError */
function watchOf(run: RunTurn, { source, key, equals, match }: Awaited & { what: "stimulus" }): Watch {
  const text = equals === null ? null : run.render(equals);
  // It would be what no payload has, or what every payload without a value has.
  if (text?.trim() === "") throw new StateFault("template_resolved_empty", "What the stimulus is known by is blank");
  return { source, key, equals: text, match };
}

const waited = (run: RunTurn) => ({ waited_ms: Math.max(0, run.now - run.workOf("wait").since) });
