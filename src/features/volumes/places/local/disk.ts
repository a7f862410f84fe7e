/** Changes of the directory that a volume is on this host. All of them are one rename each, so that none is ever half done. */
import { chownSync, lstatSync, mkdirSync, renameSync, type Stats, unlinkSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { address, look, pathOf, View, type ViewSpec } from "../../../tools/fs/port.ts";
import { ToolFailure } from "../../../tools/port.ts";
import { invalidPath, isDirectoryProblem } from "../../paths.ts";

/** What was done, by paths without links. */
export interface Done {
  readonly path: string;
  /** What lay there before. */
  readonly before: Stats | null;
  readonly stats: Stats;
}

const destinationExists = (): Problem => new Problem("destination_exists", "Something else is at that path");

/** @returns null when nothing is there, or not even a directory for it */
export function lookAtDisk(spec: ViewSpec, path: string): { readonly path: string; readonly stats: Stats } | null {
  using view = new View(spec);
  try {
    return view.at(path, { access: "write" }, (place) => {
      const stats = look(place);
      return stats === null ? null : { path: pathOf(place), stats };
    });
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "not_found") return null;
    throw error;
  }
}

/** Renames a file into the volume. */
export function putOnDisk(spec: ViewSpec, path: string, draft: string): Done {
  using view = new View(spec);
  return view.at(path, { access: "write", createParents: true }, (place) => {
    const before = look(place);
    if (before?.isDirectory()) throw isDirectoryProblem();
    const { owner } = place.directory.mount;
    if (process.getuid?.() === 0) chownSync(draft, owner.uid, owner.gid);
    renameSync(draft, address(place));
    return { path: pathOf(place), before, stats: lstatSync(address(place)) };
  });
}

/** @throws Problem 409 `destination_exists` */
export function makeDirectoryOnDisk(spec: ViewSpec, path: string): Done {
  using view = new View(spec);
  try {
    return view.at(path, { access: "write", createParents: true }, (place) => {
      const before = look(place);
      if (before !== null && !before.isDirectory()) throw destinationExists();
      if (before === null && place.name !== null) view.makeDirectory(place.directory, place.name);
      return { path: pathOf(place), before, stats: before ?? lstatSync(address(place)) };
    });
  } catch (error) {
    if (error instanceof ToolFailure && ["already_exists", "not_a_directory"].includes(error.code)) {
      throw destinationExists();
    }
    throw error;
  }
}

/** @returns what was moved, and what lay where it is now @throws ToolFailure `not_found`; Problem 409 */
export function moveOnDisk(
  spec: ViewSpec,
  from: string,
  to: string,
  overwrite: boolean,
): { readonly from: string; readonly done: Done } {
  using view = new View(spec);
  return view.at(from, { access: "write", keepLink: true }, (source) => {
    const moved = look(source);
    if (source.name === null) throw invalidPath("is the volume itself");
    if (moved === null) throw new ToolFailure("not_found", `${from} does not exist`);
    try {
      return view.at(to, { access: "write", keepLink: true, createParents: true }, (target) => {
        const before = look(target);
        const isItself = pathOf(source) === pathOf(target);
        if (before !== null && !overwrite && !isItself) throw destinationExists();
        renameSync(address(source), address(target));
        // Two names of one file: the system leaves both.
        const isSame = before !== null && !isItself && before.isFile() && before.ino === moved.ino;
        if (isSame && before.dev === moved.dev) unlinkSync(address(source));
        return { from: pathOf(source), done: { path: pathOf(target), before: isItself ? null : before, stats: moved } };
      });
    } catch (error) {
      // A directory over a file, or over one that is not empty; a file as a directory.
      if (error instanceof ToolFailure && !["not_found", "invalid_path"].includes(error.code)) {
        throw destinationExists();
      }
      throw error;
    }
  });
}

/**
 * Puts what is at a path aside, with everything in it; a link itself goes, never what it points to.
 * @param trash on the file system of the volumes
 * @returns null where the system does not let it go as a whole: a directory that an agent has closed
 * @throws ToolFailure `not_found`
 */
export function putAside(spec: ViewSpec, path: string, trash: string, name: string): Done | null {
  using view = new View(spec);
  return view.at(path, { access: "write", keepLink: true }, (place) => {
    if (place.name === null) throw invalidPath("is the volume itself");
    const stats = look(place);
    if (stats === null) throw new ToolFailure("not_found", `${path} does not exist`);
    mkdirSync(trash, { recursive: true, mode: 0o700 });
    try {
      renameSync(address(place), join(trash, name));
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (stats.isDirectory() && (code === "EACCES" || code === "EPERM")) return null;
      throw error;
    }
    return { path: pathOf(place), before: stats, stats };
  });
}
