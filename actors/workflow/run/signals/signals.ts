/**
 * Where a signal goes: to the Wait that has waited longest for its name, else to the oldest open approval, else into the
 * run's buffer, from which Waits take the oldest one of their name. All of it is decided in turns of the run, so that a
 * signal is taken by one Wait or by none, and is kept until its Wait's result is committed.
 */
import type { BodyOf } from "../../../kernel/message.ts";
import type { WorkflowRunMessages } from "../messages.ts";
import { workflowRunProtocol } from "../messages.ts";
import { type Place, placesOf } from "../places.ts";
import type { RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { BufferedSignal, HeardSignal, ItemWait, SignalReply } from "./messages.ts";

/** Signals that a run keeps, and how long it keeps each, ms. */
export const maxBuffered = 100;
export const bufferedMs = 24 * 3_600_000;
/** Signals whose repetition is recognised. */
const maxHeard = 100;

type Signal = Pick<BufferedSignal, "name" | "payload">;
type Asked = BodyOf<WorkflowRunMessages["signal"]>;

/** Lets the state at work, a Wait for a signal, come to its result. */
export type Serve = (run: RunTurn, signal: Pick<Signal, "payload">) => void;

/** What was answered to the same signal before; null: it is new. */
export function answeredBefore({ heard = [] }: Pick<RunState, "heard">, { work_id }: Asked): SignalReply | null {
  return heard.find((one) => one.work_id === work_id)?.reply ?? null;
}

/** The answer of a run that is over. */
export function signalTooLate({ status, continued_as }: Pick<RunState, "status" | "continued_as">): SignalReply {
  return { outcome: "already_terminal", status, ...(continued_as === undefined ? {} : { continued_as }) };
}

/** Takes a signal from outside to where it goes. */
export function deliver(run: RunTurn, asked: Asked, serve: Serve): SignalReply {
  const { signal_name, work_id } = asked;
  const reply = placed(run, asked, serve);
  if (reply.outcome === "buffer_full" || reply.outcome === "no_open_approval") return reply;
  if (work_id !== null) {
    const { heard = [] } = run.state;
    run.change({ heard: [...heard, { work_id, reply }].slice(-maxHeard) });
  }
  if (reply.outcome === "buffered") {
    run.emit("WorkflowSignalBuffered", {
      message: `The signal ${signal_name} waits for its state`,
      details: { signal_name },
    });
  }
  return reply;
}

type Placed = HeardSignal["reply"] | { readonly outcome: "buffer_full" } | { readonly outcome: "no_open_approval" };

function placed(run: RunTurn, { signal_name, work_id: _, ...carried }: Asked, serve: Serve): Placed {
  const signal = signal_name === null ? null : { name: signal_name, ...carried };
  if (signal !== null && handOver(run, signal, serve)) return { outcome: "taken" };
  const approval_id = oldestApproval(run.state);
  if (approval_id !== null) return { outcome: "approval", approval_id };
  if (signal === null) return { outcome: "no_open_approval" };
  const kept = keptSignals(run.state, run.now);
  if (kept.length >= maxBuffered) return { outcome: "buffer_full" };
  run.change({ signals: [...kept, { ...signal, at: run.now }] });
  return { outcome: "buffered" };
}

/** One that came back from an item is another Wait's, or is kept, also where the buffer is full: it was accepted. */
export function takeBack(run: RunTurn, signal: Signal, serve: Serve): void {
  if (handOver(run, signal, serve)) return;
  run.change({ signals: [...keptSignals(run.state, run.now), { ...signal, at: run.now }] });
}

/** Gives the open Waits what the buffer holds for them. Whether one got something. */
export function serveWaits(run: RunTurn, serve: Serve): boolean {
  const { signals = [] } = run.state;
  if (signals.length === 0) return false;
  const kept = keptSignals(run.state, run.now);
  const taken = kept.find(({ name, ...signal }) => handOver(run, { name, ...signal }, serve));
  if (taken === undefined) return false;
  run.change({ signals: kept.filter((one) => one !== taken) });
  return true;
}

/** Those that are not too old, oldest first. */
export const keptSignals = ({ signals = [] }: Pick<RunState, "signals">, now: number): readonly BufferedSignal[] =>
  signals.filter(({ at }) => now - at < bufferedMs);

/** Whether a Wait waited for it, which then has it. */
function handOver(run: RunTurn, { name, ...signal }: Signal, serve: Serve): boolean {
  const carried = signal.payload === undefined ? {} : { payload: signal.payload };
  const place = oldest(placesOf(run.state.current).filter(({ current }) => waitsFor(current, name, run.now)));
  if (place !== null) {
    run.inLine(place.line, () => serve(run, carried));
    return true;
  }
  const item = openItems(run.state).find((one) => one.signal === name);
  if (item === undefined) return false;
  forgetItem(run, item);
  const { record, entry } = item;
  run.tell(
    workflowRunProtocol,
    record,
    "item_signalled",
    { run_id: run.id, entry, name, ...carried },
    { coCommit: true },
  );
  return true;
}

/** A Wait whose time is up by its stored deadline waits no more. */
export function waitsFor({ work, deadline_at }: Place["current"], name: string, now: number): boolean {
  return work.of === "wait" && work.on === "signal" && work.signal === name && (deadline_at ?? now + 1) > now;
}

/** Of the run's own states: those of tool calls are decided by people alone. */
function oldestApproval({ current }: RunState): string | null {
  const place = oldest(placesOf(current).filter(({ current }) => current.work.of === "human"));
  return place?.current.work.of === "human" ? place.current.work.approval_id : null;
}

function oldest(places: readonly Place[]): Place | null {
  return places.toSorted((one, other) => one.current.entry - other.current.entry)[0] ?? null;
}

/** Items whose Map is at work. */
const openItems = ({ item_waits = [], current }: RunState): readonly ItemWait[] =>
  item_waits.filter(({ map_entry }) => map_entry === current?.entry);

/** An item of the Map at work waits for a signal. */
export function addItem(run: RunTurn, item: ItemWait): void {
  const open = openItems(run.state).filter((one) => !isSame(one, item));
  if (item.map_entry === run.state.current?.entry) run.change({ item_waits: [...open, item] });
}

export function forgetItem(run: RunTurn, item: Pick<ItemWait, "record" | "entry">): void {
  const { item_waits = [] } = run.state;
  run.change({ item_waits: item_waits.filter((one) => !isSame(one, item)) });
}

const isSame = (one: Pick<ItemWait, "record" | "entry">, other: Pick<ItemWait, "record" | "entry">): boolean =>
  one.record === other.record && one.entry === other.entry;
