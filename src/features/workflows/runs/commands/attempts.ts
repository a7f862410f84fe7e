/**
 * What a host keeps of the commands it was asked to run, so that any node of it can go on with them, and none runs
 * one twice:
 *
 *   commands/<command>/attempt.json        how far the latest attempt came; kept until it is no longer asked for
 *   commands/<command>/workspace-<n>/      the `/workspace` of an attempt that has no other
 */

import { chownSync, existsSync, mkdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { commandsFolder } from "../../../../adapters/sandbox/port.ts";
import { isUuid } from "../../../../http/route.ts";
import { derivedUuid } from "../../../../lib/digest.ts";
import { agentUser } from "../../../../lib/files/agent-files.ts";
import { readJson, writeAtomically } from "../../../../lib/files/json-file.ts";
import { removeDirectory } from "../../../../lib/files/remove-directory.ts";

/** The bound on the attempts of a command. */
const mostAttempts = 10;

/** An attempt as the host remembers it. */
export interface AttemptRecord {
  readonly executionId: string;
  /** Counts from 1. */
  readonly number: number;
  /** `begun`: it is being launched. `launched`: it ran. `failed`: it came to nothing. */
  readonly phase: "begun" | "launched" | "failed";
  /** Unix ms of the phase. */
  readonly at: number;
  /** How long sandboxes of the command ran before this phase, ms; absent: not at all, or an earlier version did not tell. */
  readonly ranMs?: number;
  /** Why it failed. */
  readonly error: string | null;
  /** The machine, where several share a data directory. */
  readonly machine: string;
}

export const thisMachine = hostname();

/** Each attempt has a sandbox of its own; that of the first one has the command's id. */
export function instanceOf(commandId: string, attempt: number): string {
  return attempt === 1 ? commandId : derivedUuid(`${commandId} ${attempt}`);
}

/** The sandboxes that a command can have. */
export function instancesOf(commandId: string): string[] {
  return Array.from({ length: mostAttempts }, (_, index) => instanceOf(commandId, index + 1));
}

export class Attempts {
  readonly #folder: string;

  /** @param dataDir absolute */
  constructor(dataDir: string) {
    this.#folder = commandsFolder(dataDir);
  }

  /** Null: this host was never asked to run it. */
  read(commandId: string): Promise<AttemptRecord | null> {
    return readJson<AttemptRecord>(join(this.#directory(commandId), "attempt.json"));
  }

  async write(commandId: string, record: AttemptRecord): Promise<void> {
    const directory = this.#directory(commandId);
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    await writeAtomically(join(directory, "attempt.json"), JSON.stringify(record));
  }

  /** Makes an empty directory of the command's user; one that the attempt has already stays as it is. */
  makeWorkspace(commandId: string, attempt: number, user: number | null): string {
    const path = this.#workspace(commandId, attempt);
    if (existsSync(path)) return path;
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (process.getuid?.() === 0) chownSync(path, user ?? agentUser, agentUser);
    return path;
  }

  removeWorkspace(commandId: string, attempt: number): Promise<void> {
    return removeDirectory(this.#workspace(commandId, attempt));
  }

  /** Ids of the commands that this host knows of. */
  async list(): Promise<string[]> {
    return (await readdir(this.#folder).catch(() => [])).filter(isUuid);
  }

  /** Forgets a command: who asks for it again runs it anew. */
  forget(commandId: string): Promise<void> {
    return removeDirectory(this.#directory(commandId));
  }

  #workspace(commandId: string, attempt: number): string {
    return join(this.#directory(commandId), `workspace-${attempt}`);
  }

  #directory(commandId: string): string {
    if (!isUuid(commandId)) throw new TypeError("not a UUID");
    return join(this.#folder, commandId.toLowerCase());
  }
}
