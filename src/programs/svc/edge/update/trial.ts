/**
 * A program that was just installed is on trial: the daemon that runs it must be welcomed by the service, else the former
 * one comes back. `update.json` in the state directory says so, so that the trial is held whichever process dies.
 */
import { rmSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readText, replaceFile, type StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { readStatus } from "../../../edge-daemon/state/status.ts";
import { trialFile } from "../command/trial-file.ts";
import { putBack } from "./install.ts";

const Trial = Type.Object({
  program: Type.String(),
  version: Type.String(),
  /** `failed`: this version was put away again, and is not tried by itself any more. */
  state: Type.Union([Type.Literal("trying"), Type.Literal("failed")]),
  /** Of the daemon, with the program on trial. */
  starts: Type.Integer(),
});
type Trial = Static<typeof Trial>;

export const welcomeMs = 60_000;
/** A program that dies at its start is started anew so often. */
const maxStarts = 3;
const lookMs = 500;

function read(state: StateDirectory): Trial | null {
  try {
    const value: unknown = JSON.parse(readText(trialFile(state)) ?? "null");
    return Value.Check(Trial, value) ? value : null;
  } catch {
    return null;
  }
}

const write = (state: StateDirectory, trial: Trial): void => replaceFile(trialFile(state), JSON.stringify(trial));

/** Says that the program at this place will be on trial. */
export const announceTrial = (state: StateDirectory, program: string, version: string): void =>
  write(state, { program, version, state: "trying", starts: 0 });

/** Whether this version was tried and put away. */
export function hasFailed(state: StateDirectory, version: string): boolean {
  const trial = read(state);
  return trial?.state === "failed" && trial.version === version;
}

export const endTrial = (state: StateDirectory): void => rmSync(trialFile(state), { force: true });

/** The former program is back. @returns false when it was back already */
export async function failTrial(state: StateDirectory, program: string, version: string): Promise<boolean> {
  // First the mark: a process that dies here leaves a version that is tried once more, not one that is tried for ever.
  write(state, { program, version, state: "failed", starts: 0 });
  return putBack(program);
}

export interface OnTrial {
  readonly state: StateDirectory;
  readonly program: string;
  readonly version: string;
}

/**
 * A daemon begins. @returns whether its program is on trial
 * @throws what cannot be written
 */
export function beginTrial({ state, program, version }: OnTrial): "none" | "trying" | "spent" {
  const trial = read(state);
  if (trial?.state !== "trying" || trial.program !== program || trial.version !== version) return "none";
  write(state, { ...trial, starts: trial.starts + 1 });
  return trial.starts >= maxStarts ? "spent" : "trying";
}

/** Waits for the welcome of a daemon. @param isThis which daemon @returns whether it came in time */
export async function isWelcomed(
  state: StateDirectory,
  isThis: (status: { readonly pid: number; readonly boot_id: string; readonly agent_version: string }) => boolean,
  withinMs = welcomeMs,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const status = readStatus(state);
    if (status?.connected === true && isThis(status)) return true;
    if (performance.now() >= end) return false;
    await Bun.sleep(Math.min(lookMs, withinMs));
  }
}

export interface HeldTrial {
  /** The verdict is there already; the daemon waits for it before it begins. */
  readonly isOver: boolean;
  /** Why the former program was put back; null where nothing is on trial, or the new one was welcomed. */
  readonly verdict: Promise<string | null>;
}

/**
 * Holds the program of a daemon that begins to its trial.
 * @param pid of the daemon
 */
export function holdTrial(trial: OnTrial, pid: number, withinMs = welcomeMs): HeldTrial {
  const { state, program, version } = trial;
  const begun = beginTrial(trial);
  if (begun === "none") return { isOver: true, verdict: Promise.resolve(null) };
  const giveUp = async (reason: string) => {
    await failTrial(state, program, version);
    return reason;
  };
  if (begun === "spent") return { isOver: true, verdict: giveUp("ended again and again before it was welcomed") };
  const watch = async () => {
    if (!(await isWelcomed(state, (status) => status.pid === pid, withinMs)))
      return giveUp("was not welcomed by the service in time");
    endTrial(state);
    return null;
  };
  return { isOver: false, verdict: watch() };
}
