/**
 * Where the bytes of volumes lie. Everything that reads, writes or mounts files of volumes goes through `Places`; what is
 * behind it may be directories of this host or an object store. Decided outside: who may do what, quotas, answers.
 *
 * Paths are absolute from the volume's root, as `readPath` makes them. Failures are those of the file routes: `ToolFailure`
 * and `ToolRefusal` (made problems by `answering`), or `Problem`.
 */
import type { Transaction } from "../../../store/postgres/pool.ts";
import type { Usage } from "../layout.ts";

/** Which volume. */
export interface VolumeAt {
  readonly tenant: string;
  readonly volume_id: string;
}

/** What is known of a file's content. */
export interface Content {
  /** Hex. */
  readonly sha256: string;
  readonly mime_type: string;
}

/** A file or a directory. */
export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly directory: boolean;
  /** Bytes; 0 for a directory. */
  readonly size: number;
  /** Unix milliseconds. */
  readonly modifiedMs: number;
  /** Null for directories, and for files that were not read since they changed. */
  readonly content: Content | null;
}

/** Which part of a directory. */
export interface ListPart {
  readonly path: string;
  /** Entries wanted at most. */
  readonly limit: number;
  /** Entries to leave out at the start. */
  readonly offset: number;
  /** Entries up to this one are left out; null: none. */
  readonly after: { readonly directory: boolean; readonly name: string } | null;
}

/** A file as a response sends it. To be closed. */
export interface Sendable {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /**
   * Bytes from `start` to before `end`, or all of them, of a length that is told before they come. Asked for once, at
   * most; who reads it may go on after `close`.
   */
  body(part: { readonly start: number; readonly end: number } | null): Blob | Promise<Blob>;
  /** Repeatable. */
  close(): void;
}

/** A file that is open for reading. */
export interface OpenContent extends Sendable {
  readonly entry: Entry;
  readonly content: Content;
  /** Bytes from `start` to before `end`, held in memory. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Bytes on their way into a volume: they lie beside it until a change puts them at a path, and nothing shows them. */
export interface Draft {
  /** Takes the next piece, copied where it is kept. Resolves once another one may follow. */
  write(piece: Uint8Array): Promise<void>;
  /** Says that all pieces came. Rejects where one of them could not be kept. */
  finish(): Promise<void>;
  /** Takes it away, unless it was put at a path. Repeatable. */
  discard(): Promise<void>;
}

/** A finished draft and what came in it. */
export interface Arrival {
  readonly draft: Draft;
  readonly size: number;
  readonly content: Content;
}

/** What one change does to a volume. All of it is there when its transaction commits, or none of it. */
export interface Change {
  /** Of the change: what else has to be true with it is written in this one. */
  readonly transaction: Transaction;
  /** What is at a path; null where nothing is, not even a directory that it could lie in. */
  look(path: string): Promise<Entry | null>;
  /**
   * Puts a file at a path, in place of one that is there; missing directories are made. Counts in the figures of the volume.
   * @throws Problem 422 `is_a_directory`
   */
  put(path: string, arrival: Arrival): Promise<Entry>;
  /** With its parents; one that is there is left alone. @throws Problem 409 `destination_exists` where a file is */
  makeDirectory(path: string): Promise<void>;
  /**
   * A file takes the place of a file, a directory that of an empty one; missing parents are made.
   * @param overwrite whether something may be there
   * @throws ToolFailure `not_found`; Problem 409 `destination_exists`
   */
  move(from: string, to: string, overwrite: boolean): Promise<void>;
  /** With everything in it. @throws ToolFailure `not_found` */
  remove(path: string): Promise<void>;
}

/** What an instance does with a volume that it mounts. */
export interface MountUse {
  readonly executionId: string;
  readonly instanceId: string;
  readonly writes: boolean;
}

/** Whether what an instance left is in its volumes; `no_room`: of one of them it is not, since its quotas have no room. */
export type Landed = "written" | "no_room";

export interface Places {
  /** Writes, reads and deletes something. Rejects where that cannot be done. */
  probe(): Promise<void>;
  /** Makes the place of a volume, where it needs one. Repeatable and cheap. */
  prepare(volumeId: string): Promise<void>;

  /** Directories first, then by name. @throws ToolFailure `not_found`, `not_a_directory` */
  list(volume: VolumeAt, part: ListPart, signal: AbortSignal): Promise<readonly Entry[]>;
  /** @throws ToolFailure `not_found` */
  look(volume: VolumeAt, path: string): Promise<Entry>;
  /** Its digest is worked out where it is not known. @throws ToolFailure `not_found`; Problem 422 `is_a_directory` */
  open(volume: VolumeAt, path: string, signal: AbortSignal | null): Promise<OpenContent>;

  draft(volume: VolumeAt): Promise<Draft>;
  /** Changes a volume; changes of one tenant take turns, so that what was counted before is still true with it. */
  change<T>(volume: VolumeAt, work: (change: Change) => Promise<T>): Promise<T>;

  /**
   * Makes the volume a directory of this host that instances mount and the file tools work in. What is there already is
   * left as it is. Cheap when it was done before.
   * @returns absolute path
   */
  stage(volumeId: string): Promise<string>;
  /** What the staged directory holds now. Takes as long as it is large, in a process of its own. */
  measure(volumeId: string): Promise<Usage>;
  /**
   * After executions wrote to the staged directory: what lies there is what the volume holds from now on, and its figures
   * are counted anew. Takes as long as the directory is large, and no more memory.
   * @param isIdle whether nothing works with it; asked after it has begun, so that a start meanwhile is seen
   * @returns false when something works with it, or it changed meanwhile, or is too large: it is to be asked again later
   */
  writeBack(volumeId: string, isIdle: () => Promise<boolean>): Promise<boolean>;

  /**
   * Before an instance mounts it: what the volume holds is brought to its staged directory.
   * @throws LaunchFailure `volume_error` where this host cannot have it; Problem 503
   */
  arrive(volume: VolumeAt, use: MountUse, signal: AbortSignal | null): Promise<void>;
  /** An instance ended on this host: the volumes hold from now on what it left. Repeatable. @throws Problem 503 */
  land(instanceId: string, signal: AbortSignal | null): Promise<Landed>;

  /** Ids of volumes that something is kept of here. */
  held(): Promise<string[]>;
  /** Takes away all that is kept of a volume whose row says that it is deleted, or is gone. Repeatable. @returns whether nothing is left */
  erase(volumeId: string): Promise<boolean>;
  /** Takes away what crashes left behind. @param now Unix ms */
  tidy(now: number): Promise<void>;
}
