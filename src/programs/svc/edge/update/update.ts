/** Replaces this program by a released one, and the daemon with it. */
import { judgeRelease, type Release } from "../../../../../actors/edge/release.ts";
import { machineOf, systemOf } from "../../../../../actors/edge/words.ts";
import { machineClocks } from "../../../edge-daemon/clock.ts";
import type { StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { isLocked } from "../../../edge-daemon/state/lock.ts";
import { readStatus } from "../../../edge-daemon/state/status.ts";
import { Failure } from "../command/exit.ts";
import { type InstallStep, installProgram } from "./install.ts";
import { piecesOf, programSource, type ReleaseKey, readSignedRelease } from "./release-source.ts";
import { announceTrial, endTrial, failTrial, isWelcomed, welcomeMs } from "./trial.ts";

/** The program as it is. */
export interface Current {
  readonly program: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
}

export interface UpdateOptions {
  readonly current: Current;
  readonly state: StateDirectory;
  readonly source: URL;
  readonly keys: readonly ReleaseKey[];
  readonly allowDowngrade: boolean;
  readonly allowPlaintext: boolean;
  readonly reached?: ((step: InstallStep) => void) | undefined;
}

export interface Offer {
  readonly current: string;
  readonly latest: string;
  readonly update_available: boolean;
  /** Puts the offered program in place; absent where there is nothing to do. */
  readonly install: (() => Promise<void>) | null;
}

/** @throws Failure `conflict` on a system that has no releases */
export function currentProgram(program: string, version: string): Current {
  const [os, arch] = [systemOf(process.platform), machineOf(process.arch)];
  if (os === null || arch === null) throw new Failure("conflict", "there are no releases for this system");
  return { program, version, os, arch };
}

/**
 * What the release offers to this program. Nothing is changed yet.
 * @throws Failure `authentication`, `conflict`, `unavailable`
 */
export async function offeredUpdate(options: UpdateOptions): Promise<Offer> {
  const { current, source, keys, allowDowngrade, allowPlaintext } = options;
  const release = await readSignedRelease(source, keys, allowPlaintext);
  const verdict = judgeRelease(release, { ...current, now: machineClocks.wall(), allowDowngrade });
  const offer = { current: current.version, latest: release.version };
  switch (verdict.kind) {
    case "current":
      return { ...offer, update_available: false, install: null };
    case "expired":
      throw new Failure("authentication", `the release expired at ${release.expires_at}`, "release_expired");
    case "older":
      throw new Failure(
        "conflict",
        `the release is ${release.version}, older than this program (${current.version}): --allow-downgrade installs it`,
        "release_older",
      );
    case "no_file":
      throw new Failure("conflict", `the release has no program for ${current.os} on ${current.arch}`, "no_program");
    case "newer":
    case "downgrade": {
      const { file } = verdict;
      return { ...offer, update_available: true, install: () => install(options, release, file) };
    }
  }
}

async function install(options: UpdateOptions, { version }: Release, file: Release["files"][number]): Promise<void> {
  const { current, source, state, allowPlaintext, reached } = options;
  const from = programSource(source, file.url, allowPlaintext);
  await installProgram({
    ...{ program: current.program, file, version, reached },
    pieces: piecesOf(from, allowPlaintext),
    // From the rename on, a daemon that starts is on trial, whatever becomes of this process.
    before: async () => announceTrial(state, current.program, version),
  });
}

export interface RestartOptions {
  readonly state: StateDirectory;
  readonly program: string;
  readonly version: string;
  readonly restart: () => Promise<void>;
  readonly note: (text: string) => void;
  readonly timing?: { readonly idleMs: number; readonly welcomeMs: number };
}

const usual = { idleMs: 600_000, welcomeMs };
const lookMs = 1000;

/**
 * Restarts the daemon once it runs no command, at the latest after ten minutes, and waits for its welcome.
 * @throws Failure `failed` when it does not come; then the former program runs again
 */
export async function restartOnTrial(options: RestartOptions): Promise<void> {
  const { state, program, version, restart, note, timing = usual } = options;
  await idle(state, timing.idleMs, note);
  const former = readStatus(state)?.boot_id ?? null;
  let reason = "it was not welcomed by the service";
  try {
    await restart();
    if (
      await isWelcomed(
        state,
        (status) => status.boot_id !== former && status.agent_version === version,
        timing.welcomeMs,
      )
    ) {
      endTrial(state);
      return;
    }
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  await failTrial(state, program, version);
  await restart().catch((error: Error) => note(`the former program is not started: ${error.message}`));
  throw new Failure("failed", `${version} was put away again, the former program is back: ${reason}`, "rolled_back");
}

async function idle(state: StateDirectory, withinMs: number, note: (text: string) => void): Promise<void> {
  const end = performance.now() + withinMs;
  let isTold = false;
  while (performance.now() < end) {
    const status = readStatus(state);
    // What a daemon wrote that has ended since means nothing.
    if (status === null || status.running === 0 || !isLocked(state)) return;
    if (!isTold) note(`waiting for ${status.running} commands that run`);
    isTold = true;
    await Bun.sleep(Math.min(lookMs, withinMs));
  }
}
