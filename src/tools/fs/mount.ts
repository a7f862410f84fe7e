/**
 * A directory of the host that an agent sees as `/workspace`, and the only way the `fs.*` tools reach
 * into it. Paths never leave it, even while the agent swaps directories for links underneath us.
 *
 * How: a path is walked one component at a time, each directory opened relative to its parent's
 * descriptor with `O_NOFOLLOW`; Bun has no `openat`, so the parent is addressed as
 * `/proc/self/fd/<n>`, which names the open directory itself and not its path. Links are read and
 * walked by hand: `..` pops a descriptor instead of asking the kernel, absolute targets start again at
 * the mount, and whatever would climb above it is refused. Where nothing is left to walk, the last
 * component is opened, replaced or removed relative to its parent's descriptor, again without
 * following a link.
 *
 * Limits: outside Linux there is no such address, and parents are named by path; a concurrent writer
 * could then win a race (development machines only). Hard links to foreign files are told by their
 * owner (see `openFile`).
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { join, posix } from "node:path";
import { ToolFailure, ToolRefusal } from "../port.ts";

const anchored = process.platform === "linux";
const openDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const maxLinks = 40;
const maxPathBytes = 4096;

/** An open directory. `path` addresses it for the next system call and is never shown to anyone. */
interface Directory {
  readonly fd: number;
  readonly path: string;
}

/** Where a path leads: a name in an open directory, or the directory itself when `name` is null. */
export interface Place {
  readonly directory: Directory;
  readonly name: string | null;
  /** The path as the agent writes it: absolute, without `.` and `..`. */
  readonly shown: string;
}

export interface Walk {
  /** Makes missing directories on the way. */
  readonly createParents?: boolean;
  /** A link as the last component is the place itself, not where it points to. */
  readonly keepLink?: boolean;
}

export class Mount {
  /** Whom new files belong to: the owner of the mounted directory. */
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly #root: Directory;
  readonly #prefixes: readonly string[];

  /**
   * @param host  directory of the host
   * @param mountPath what the agent calls it
   */
  constructor(
    host: string,
    readonly mountPath = "/workspace",
  ) {
    const real = realpathSync(host);
    this.#root = opened(openSync(real, constants.O_RDONLY | constants.O_DIRECTORY), real);
    const { uid, gid } = fstatSync(this.#root.fd);
    this.owner = { uid, gid };
    // Without a mount namespace the agent's own links and paths name the host directory.
    this.#prefixes = [mountPath, host, real];
  }

  [Symbol.dispose](): void {
    closeSync(this.#root.fd);
  }

  /**
   * Walks to a path and hands its place to `use`; every descriptor is closed afterwards.
   * @param path as the agent wrote it; relative ones start at the mount
   * @throws ToolRefusal when the path, or a link on it, leads out; ToolFailure when it leads nowhere
   */
  at<T>(path: string, use: (place: Place) => T, how: Walk = {}): T {
    const components = this.#components(path);
    const shown = posix.join(this.mountPath, ...components);
    const stack: Directory[] = [];
    try {
      const name = this.#walk(stack, [...components], shown, how);
      return use({ directory: stack.at(-1) ?? this.#root, name, shown });
    } catch (error) {
      throw asFailure(error, shown);
    } finally {
      for (const directory of stack) closeSync(directory.fd);
    }
  }

  /** Opens `name` in `directory` as a directory, for walks that follow no link; null when it is something else. */
  enter(directory: Directory, name: string): Directory | null {
    const path = join(directory.path, name);
    try {
      return opened(openSync(path, openDirectory), path);
    } catch {
      return null;
    }
  }

  /**
   * Opens the regular file at a place, never through a link and never waiting for a pipe's other end.
   * @throws ToolFailure `not_a_file`; ToolRefusal for a hard link to somebody else's file
   */
  openFile(place: Place, flags: number): { readonly fd: number; readonly stats: Stats } {
    const fd = openSync(address(place), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw new ToolFailure("not_a_file", `${place.shown} is not a file`);
      if (stats.nlink > 1 && stats.uid !== this.owner.uid && this.owner.uid !== 0) {
        throw refusal(place.shown, "path_traversal_attempt");
      }
      return { fd, stats };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** What is at a place, links not followed; null when nothing is. */
  kindOf(place: Place): "file" | "directory" | "symlink" | "other" | null {
    const stats = look(place);
    if (!stats) return null;
    return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "symlink" : "other";
  }

  /** Gives a new file or directory to the owner of the mount, where this process may. */
  adopt(fd: number): void {
    if (process.getuid?.() === 0 && this.owner.uid !== 0) fchownSync(fd, this.owner.uid, this.owner.gid);
  }

  /** The path as components below the mount; `..` is resolved by text, as policies read it. */
  #components(path: string): string[] {
    if (path.includes("\0") || Buffer.byteLength(path) > maxPathBytes) {
      throw new ToolFailure("invalid_path", "The path is too long or holds a NUL character");
    }
    const normal = posix.resolve(this.mountPath, path);
    const prefix = this.#prefixes.find((candidate) => within(normal, candidate));
    if (prefix === undefined) {
      throw refusal(path, path.split("/").includes("..") ? "path_traversal_attempt" : "path_outside_boundary");
    }
    return normal.slice(prefix.length).split("/").filter(Boolean);
  }

  /** Leaves the parent on top of the stack and returns the last name, or null for a directory itself. */
  #walk(stack: Directory[], queue: string[], shown: string, how: Walk): string | null {
    let links = 0;
    let created = "";
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === "..") goUp(stack, shown);
      if (name === "" || name === "." || name === "..") continue;
      const parent = stack.at(-1) ?? this.#root;
      const last = queue.every((rest) => rest === "" || rest === ".");
      const target = last && how.keepLink ? null : linkTarget(parent, name);
      if (target !== null) {
        if (++links > maxLinks) throw new ToolFailure("invalid_path", `${shown} has too many links`);
        this.#turn(stack, queue, target, shown);
        continue;
      }
      if (last) return name;
      const step = `${stack.length}/${name}`;
      const next = this.#step(parent, name, shown, how.createParents === true && created !== step);
      if (next) {
        stack.push(next);
        continue;
      }
      // Just made (by us or by somebody else): look again, once.
      created = step;
      queue.unshift(name);
    }
    return null;
  }

  /** Goes on where a link points to: from here, or from the mount. */
  #turn(stack: Directory[], queue: string[], target: string, shown: string): void {
    if (target.startsWith("/")) this.#restart(stack, queue, target, shown);
    else queue.unshift(...target.split("/"));
  }

  #restart(stack: Directory[], queue: string[], target: string, shown: string): void {
    const prefix = this.#prefixes.find((candidate) => within(target, candidate));
    if (prefix === undefined) throw refusal(shown, "path_traversal_attempt");
    for (const directory of stack.splice(0)) closeSync(directory.fd);
    queue.unshift(...target.slice(prefix.length).split("/"));
  }

  #step(parent: Directory, name: string, shown: string, create: boolean): Directory | null {
    const path = join(parent.path, name);
    try {
      return opened(openSync(path, openDirectory), path);
    } catch (error) {
      if (!create || codeOf(error) !== "ENOENT") throw asFailure(error, shown);
      this.makeDirectory(parent, name);
      return null;
    }
  }

  /** Makes a directory that belongs to the owner of the mount; one that is there already is left alone. */
  makeDirectory(parent: Directory, name: string): void {
    const path = join(parent.path, name);
    try {
      mkdirSync(path, 0o755);
    } catch (error) {
      if (codeOf(error) === "EEXIST") return;
      throw error;
    }
    const made = this.enter(parent, name);
    if (!made) return;
    this.adopt(made.fd);
    closeSync(made.fd);
  }
}

/** How the next system call addresses a place. */
export function address(place: Place): string {
  return place.name === null ? place.directory.path : join(place.directory.path, place.name);
}

/** The status of what is at a place, links not followed; null when nothing is. */
export function look(place: Place): Stats | null {
  return lstatSync(address(place), { throwIfNoEntry: false }) ?? null;
}

function refusal(attempted: string, violation: "path_traversal_attempt" | "path_outside_boundary"): ToolRefusal {
  return new ToolRefusal(2002, "path_not_allowed", violation, `${attempted} is outside /workspace`, attempted);
}

const failures: Readonly<Record<string, readonly [code: string, text: string]>> = {
  ENOENT: ["not_found", "does not exist"],
  ENOTDIR: ["not_a_directory", "is not a directory"],
  EISDIR: ["not_a_file", "is a directory"],
  EEXIST: ["already_exists", "exists already"],
  ENOTEMPTY: ["not_empty", "is not empty"],
  ENXIO: ["not_a_file", "is not a file"],
  EACCES: ["forbidden", "may not be touched"],
  EPERM: ["forbidden", "may not be touched"],
  EROFS: ["forbidden", "is read-only"],
  EBUSY: ["forbidden", "is in use"],
  ENOSPC: ["quota_exceeded", "does not fit: the disk is full"],
  EDQUOT: ["quota_exceeded", "does not fit: the quota is used up"],
  ENAMETOOLONG: ["invalid_path", "has a name that is too long"],
  // Between two looks somebody put a link where there was none.
  ELOOP: ["storage_error", "changed while it was being opened"],
};

/** Turns an error of the file system into one for the model, without the host's paths. */
function asFailure(error: unknown, shown: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof ToolFailure || error instanceof ToolRefusal) return error;
  const [name, text] = failures[code] ?? ["storage_error", `could not be used (${code})`];
  return new ToolFailure(name, `${shown} ${text}`);
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

function opened(fd: number, path: string): Directory {
  return { fd, path: anchored ? `/proc/self/fd/${fd}` : path };
}

function goUp(stack: Directory[], shown: string): void {
  const left = stack.pop();
  if (!left) throw refusal(shown, "path_traversal_attempt");
  closeSync(left.fd);
}

function linkTarget(parent: Directory, name: string): string | null {
  try {
    return readlinkSync(join(parent.path, name));
  } catch {
    return null;
  }
}

function within(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix === "/" ? "/" : `${prefix}/`);
}
