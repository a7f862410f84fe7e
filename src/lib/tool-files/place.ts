/** Where a walk has come to: an open directory and a name in it. */
import { lstatSync, type Stats, statSync } from "node:fs";
import { join, posix } from "node:path";
import type { ViewMount } from "./view-spec.ts";

export interface OpenMount extends ViewMount {
  readonly fd: number;
  /** Whom new files belong to: the owner of the mounted directory. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** An open directory. `path` addresses it for the next system call and is never shown to anyone. */
export interface Directory {
  readonly fd: number;
  readonly path: string;
  /** Where it is for the agent, no link in it. */
  readonly at: string;
  readonly mount: OpenMount;
}

/** Where a path leads: a name in an open directory, or the root of a mount when `name` is null. */
export interface Place {
  readonly directory: Directory;
  readonly name: string | null;
  /** The path as the agent writes it: absolute, without `.` and `..`. */
  readonly shown: string;
}

/** What is to be done with a place. */
export type Access = "see" | "read" | "write";

export interface Walk {
  readonly access: Access;
  /** Makes missing directories on the way. */
  readonly createParents?: boolean;
  /** A link as the last component is the place itself, not where it points to. */
  readonly keepLink?: boolean;
}

/** The path of a place without links, as policies read it. */
export function pathOf({ directory, name }: Pick<Place, "directory" | "name">): string {
  return name === null ? directory.at : posix.join(directory.at, name);
}

/** How the next system call addresses a place. */
export function address(place: Place): string {
  return place.name === null ? place.directory.path : join(place.directory.path, place.name);
}

/** The status of what is at a place, links not followed; null when nothing is. */
export function look(place: Place): Stats | null {
  // A directory itself is addressed by its descriptor, which is a link.
  if (place.name === null) return statSync(address(place));
  return lstatSync(address(place), { throwIfNoEntry: false }) ?? null;
}
