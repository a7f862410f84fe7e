/** Colours of a terminal; none where it is none, with `NO_COLOR`, or with `--no-color`. */
import type { Io } from "../process/io.ts";
import { inline, Safe } from "./inert.ts";

export type Paint = (text: string | Safe) => Safe;
export type Colours = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", Paint>>;

const shown = (text: string | Safe): string => (text instanceof Safe ? text.text : inline(text));

const paint =
  (begin: number, end: number): Paint =>
  (text) =>
    new Safe(`\u001b[${begin}m${shown(text)}\u001b[${end}m`);

const coloured: Colours = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};
const same: Paint = (text) => new Safe(shown(text));
const plain: Colours = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** @param isTerminal of the stream that is written to */
export function coloursFor(io: Pick<Io, "env">, isTerminal: boolean, isWanted: boolean): Colours {
  return isTerminal && isWanted && !io.env.NO_COLOR && io.env.TERM !== "dumb" ? coloured : plain;
}

const good = new Set([
  "completed",
  "succeeded",
  "active",
  "ok",
  "approved",
  "connected",
  "complete",
  "ready",
  "healthy",
]);
const bad = new Set([
  "failed",
  "timed_out",
  "error",
  "rejected",
  "fail",
  "refused",
  "lost",
  "revoked",
  "halted",
  "dead",
]);
const under = new Set(["running", "started", "dispatched", "processing"]);
const waits = new Set([
  "pending",
  "queued",
  "waiting",
  "paused",
  "suspended",
  "warn",
  "awaiting_approval",
  "unhealthy",
]);

/** A status in its colour: what is well, what is not, what goes on, what waits. */
export function painted(status: string, colours: Colours): Safe {
  if (good.has(status)) return colours.green(status);
  if (bad.has(status)) return colours.red(status);
  if (under.has(status)) return colours.cyan(status);
  return waits.has(status) ? colours.yellow(status) : same(status);
}
