/** What a view of an agent's files is made of. */
import type { FilesystemRules } from "../../../actors/policy/filesystem/policy.ts";

/** One directory of the host in a view. */
export interface ViewMount {
  /** Absolute host path. */
  readonly host: string;
  /** What the agent calls it. */
  readonly target: string;
  readonly readOnly: boolean;
  /** Bytes that may be added before its size limit is met; null: any number. */
  readonly freeBytes: number | null;
}

/** Everything a view is made of; plain data, so that it can be handed to another process. */
export interface ViewSpec {
  /** One of them holds all others. */
  readonly mounts: readonly ViewMount[];
  /** `spec.security.filesystem`. Null: no more than the mounts' own modes. */
  readonly rules: FilesystemRules | null;
  /**
   * Allowlists of the security contexts that bind a call; each has to cover the path that the walk really took. Absent:
   * none.
   */
  readonly allowed?: readonly (readonly string[])[];
  /** A directory of the host that no call enters. Absent: none. */
  readonly closed?: ClosedDirectory;
}

export interface ClosedDirectory {
  /** Absolute host path. */
  readonly host: string;
  /** The one name in it that is open. */
  readonly except: string;
}

/** The whole file system of the host, by its own paths. */
export const hostView = (
  allowed: readonly (readonly string[])[],
  closed: ClosedDirectory,
): ViewSpec & { readonly closed: ClosedDirectory } => ({ ...viewOf("/", "/"), allowed, closed });

/** A view of one directory that may be written. */
export function viewOf(host: string, target = "/workspace"): ViewSpec {
  return { mounts: [{ host, target, readOnly: false, freeBytes: null }], rules: null };
}
