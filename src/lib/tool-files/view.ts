/**
 * What an agent sees under `/workspace`, one directory of the host or several mounted into each other, and the only
 * way the `fs.*` tools, the file routes and the loading of context reach into it. Paths never leave it, even while
 * the agent swaps directories for links underneath us.
 *
 * How: a path is walked one component at a time, each directory opened relative to its parent's
 * descriptor with `O_NOFOLLOW`; Bun has no `openat`, so the parent is addressed as
 * `/proc/self/fd/<n>`, which names the open directory itself and not its path. Where another directory is
 * mounted, the walk goes on in that one. Links are read and walked by hand: `..` pops a descriptor instead
 * of asking the kernel, absolute targets start again at the top, and a path that would climb above it is refused.
 * Where nothing is left to walk, the last component is opened, replaced or removed relative to its parent's
 * descriptor, again without following a link. What may be seen, read and written is decided on the path that
 * the walk really took, so that no link leads around a policy.
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
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { join, posix } from "node:path";
import { isWithin } from "../../../actors/policy/filesystem/mounts.ts";
import { type FilesystemPolicy, filesystemPolicy } from "../../../actors/policy/filesystem/policy.ts";
import { pathAllowed } from "../../../actors/policy/security/paths.ts";
import { Closed } from "./closed.ts";
import { asFailure, codeOf, forbidden, outside } from "./failures.ts";
import { ToolFailure } from "./outcome.ts";
import { type Access, address, type Directory, look, type OpenMount, type Place, pathOf, type Walk } from "./place.ts";
import type { ViewSpec } from "./view-spec.ts";

const anchored = process.platform === "linux";
const openDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const maxLinks = 40;
const maxPathBytes = 4096;
/** Names that a walk looks at, those of links included: each is a few system calls on the node's main thread. */
const maxSteps = 256;
/** Names of a path. */
const maxDepth = 128;

export class View {
  /** The path that holds all others. */
  readonly top: string;
  readonly #mounts: ReadonlyMap<string, OpenMount>;
  readonly #root: Directory;
  readonly #policy: FilesystemPolicy | null;
  readonly #allowed: readonly (readonly string[])[];
  readonly #closed: Closed | null;
  /** Absolute paths that name a mount, and which; the longest first. */
  readonly #prefixes: readonly (readonly [prefix: string, target: string])[] = [];

  /** @throws Error when a directory of the host is not there */
  constructor({ mounts, rules, allowed = [], closed }: ViewSpec) {
    this.#allowed = allowed;
    this.#closed = closed === undefined ? null : new Closed(closed);
    const open = new Map<string, OpenMount>();
    this.#mounts = open;
    this.#policy = rules === null ? null : filesystemPolicy(rules);
    const ordered = [...mounts].sort((a, b) => a.target.length - b.target.length);
    const prefixes: (readonly [string, string])[] = [];
    try {
      for (const mount of ordered) {
        const real = realpathSync(mount.host);
        const fd = openSync(real, constants.O_RDONLY | constants.O_DIRECTORY);
        const { uid, gid } = fstatSync(fd);
        open.set(mount.target, { ...mount, host: real, fd, owner: { uid, gid } });
        // Without a mount namespace the agent's own links and paths name the host directory.
        prefixes.push([mount.target, mount.target], [mount.host, mount.target], [real, mount.target]);
      }
      const [first] = open.values();
      if (first === undefined) throw new Error("a view needs a mount");
      this.top = first.target;
      this.#root = directoryOf(first, first.fd, first.host, first.target);
      this.#prefixes = prefixes.sort(([a], [b]) => b.length - a.length);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#mounts.values()) closeSync(fd);
  }

  /**
   * Walks to a path and hands its place to `use`; every descriptor is closed afterwards.
   * @param path as the agent wrote it; relative ones start at the top
   * @throws ToolRefusal when the path, or a link on it, leads out or to what the policy forbids; ToolFailure when
   *   it leads nowhere
   */
  at<T>(path: string, how: Walk, use: (place: Place) => T): T {
    const components = this.#components(path);
    const shown = posix.join(this.top, ...components);
    const stack: Directory[] = [];
    try {
      const name = this.#walk(stack, [...components], shown, how);
      const place = { directory: stack.at(-1) ?? this.#root, name, shown };
      this.#allow(pathOf(place), place.directory.mount, how.access, shown);
      this.#requireListed(pathOf(place), shown);
      if (this.#isClosed(place)) throw forbidden(shown, "seen");
      return use(place);
    } catch (error) {
      throw asFailure(error, shown);
    } finally {
      for (const directory of stack) this.leave(directory);
    }
  }

  /**
   * Opens `name` in `directory` as a directory, for walks that follow no link; null when it is something else.
   * To be closed by `leave`.
   */
  enter(directory: Directory, name: string): Directory | null {
    if (this.#isClosed({ directory, name })) return null;
    try {
      return this.#open(directory, name);
    } catch {
      return null;
    }
  }

  /**
   * Opens the regular file at a place, never through a link and never waiting for a pipe's other end.
   * @throws ToolFailure `not_a_file`; ToolRefusal for a hard link to another owner's file
   */
  openFile(place: Place, flags: number): { readonly fd: number; readonly stats: Stats } {
    const { owner } = place.directory.mount;
    const fd = openSync(address(place), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw new ToolFailure("not_a_file", `${place.shown} is not a file`);
      if (stats.nlink > 1 && stats.uid !== owner.uid && owner.uid !== 0) {
        throw outside(place.shown, "path_traversal_attempt", this.top);
      }
      if (this.#closed?.shares(stats)) throw forbidden(place.shown, "seen");
      return { fd, stats };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** What is at a place, links not followed; null when nothing is. */
  kindOf(place: Place): "file" | "directory" | "symlink" | "other" | null {
    if (this.#mounts.has(pathOf(place))) return "directory";
    const stats = look(place);
    if (!stats) return null;
    return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "symlink" : "other";
  }

  /** Whether the policy lets the agent know of a place; of a directory also when it only leads to such a place. */
  shows(place: Place, kind: "directory" | "file" | "symlink" | "other"): boolean {
    const policy = this.#policy;
    if (!this.#isListed(pathOf(place))) return false;
    return policy === null || (kind === "directory" ? policy.maySee(pathOf(place)) : policy.mayRead(pathOf(place)));
  }

  /** Whether another directory is mounted below a place. */
  holdsMount(place: Place): boolean {
    const path = pathOf(place);
    return [...this.#mounts.keys()].some((target) => target !== path && isWithin(target, path));
  }

  /** Gives a new file or directory to the owner of its mount, where this process may. */
  adopt({ mount }: Directory, fd: number): void {
    if (process.getuid?.() === 0 && mount.owner.uid !== 0) fchownSync(fd, mount.owner.uid, mount.owner.gid);
  }

  /** @throws ToolFailure `quota_exceeded` when so many more bytes do not fit the mount */
  fit({ directory, shown }: Place, more: number): void {
    const { freeBytes, target } = directory.mount;
    if (freeBytes === null || more <= freeBytes) return;
    throw new ToolFailure("quota_exceeded", `${shown} does not fit: the size limit of ${target} is reached`);
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
    this.adopt(made, made.fd);
    this.leave(made);
  }

  /** The path as components below the top; `..` is resolved by text, as policies read it. */
  #components(path: string): string[] {
    if (path.includes("\0") || Buffer.byteLength(path) > maxPathBytes) {
      throw new ToolFailure("invalid_path", "The path is too long or holds a NUL character");
    }
    const inside = this.#inside(posix.resolve(this.top, path));
    if (inside !== null && inside.length > maxDepth) throw tooDeep();
    if (inside === null) {
      throw outside(
        path,
        path.split("/").includes("..") ? "path_traversal_attempt" : "path_outside_boundary",
        this.top,
      );
    }
    return inside;
  }

  /** The components of an absolute path below the top, under any mount's name; null when it is none. */
  #inside(path: string): string[] | null {
    const known = this.#prefixes.find(([prefix]) => isWithin(path, prefix));
    if (known === undefined) return null;
    const [prefix, target] = known;
    const full = posix.join(target, path.slice(prefix.length));
    return full.slice(this.top.length).split("/").filter(Boolean);
  }

  /** @throws ToolRefusal where the allowlists of the call do not cover a place that was found in a walk */
  requireListed(place: Place): void {
    this.#requireListed(pathOf(place), place.shown);
  }

  #isListed(path: string): boolean {
    return this.#allowed.every((entries) => pathAllowed(entries, path));
  }

  /** @param path the one that the walk took; `shown` the one that was asked for, which a link may have led away from */
  #requireListed(path: string, shown: string): void {
    if (this.#isListed(path)) return;
    throw outside(
      shown,
      this.#isListed(shown) ? "path_traversal_attempt" : "path_outside_boundary",
      "what may be used",
    );
  }

  /** Whether it is the directory that no call enters, or a name in it. */
  #isClosed({ directory, name }: Pick<Place, "directory" | "name">): boolean {
    if (this.#closed === null) return false;
    if (name !== null && this.#closed.holds(directory.fd, name)) return true;
    return this.#closed.is(look({ directory, name, shown: "" }));
  }

  /** @throws ToolRefusal where a walk may not go on by that name */
  #pass(parent: Directory, name: string, shown: string): void {
    this.#allow(posix.join(parent.at, name), parent.mount, "see", shown);
    if (this.#closed?.holds(parent.fd, name)) throw forbidden(shown, "seen");
  }

  #allow(path: string, mount: OpenMount, access: Access, shown: string): void {
    const policy = this.#policy;
    if (policy !== null && !policy.maySee(path)) throw forbidden(shown, "seen");
    if (access === "read" && policy !== null && !policy.mayRead(path)) throw forbidden(shown, "read");
    if (access !== "write") return;
    if (mount.readOnly || !(policy?.mayWrite(path) ?? true)) throw forbidden(shown, "written");
  }

  /** Leaves the parent on top of the stack and returns the last name, or null for the root of a mount. */
  #walk(stack: Directory[], queue: string[], shown: string, how: Walk): string | null {
    let links = 0;
    let steps = 0;
    let created = "";
    for (let name = this.#next(stack, queue, shown); name !== null; name = this.#next(stack, queue, shown)) {
      if (++steps > maxSteps) throw tooDeep();
      const parent = stack.at(-1) ?? this.#root;
      const at = posix.join(parent.at, name);
      const isMount = this.#mounts.has(at);
      this.#pass(parent, name, shown);
      const last = queue.every((rest) => rest === "" || rest === ".");
      const target = isMount || (last && how.keepLink) ? null : linkTarget(parent, name);
      if (target !== null) {
        if (++links > maxLinks) throw new ToolFailure("invalid_path", `${shown} has too many links`);
        this.#turn(stack, queue, target, shown);
        continue;
      }
      if (last && !isMount) return name;
      const step = `${stack.length}/${name}`;
      const next = this.#step(parent, name, shown, how.createParents === true && created !== step);
      if (next) {
        stack.push(next);
        continue;
      }
      // Just made, by us or by another process: look again, once.
      created = step;
      queue.unshift(name);
    }
    return null;
  }

  /** The next name to walk, every `..` before it gone; null at the end. */
  #next(stack: Directory[], queue: string[], shown: string): string | null {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === "..") this.#goUp(stack, shown);
      else if (name !== "" && name !== ".") return name;
    }
    return null;
  }

  /** Goes on where a link points to: from here, or from the top. */
  #turn(stack: Directory[], queue: string[], target: string, shown: string): void {
    if (!target.startsWith("/")) {
      queue.unshift(...target.split("/"));
      return;
    }
    // Where no path of an instance is known, an absolute one means some place in the instance, not in here.
    const isForeign = this.top === "/" && this.#root.mount.host !== "/";
    const known = isForeign ? undefined : this.#prefixes.find(([prefix]) => isWithin(target, prefix));
    if (known === undefined) throw outside(shown, "path_traversal_attempt", this.top);
    const [prefix, mount] = known;
    for (const directory of stack.splice(0)) this.leave(directory);
    // `..` in the target stays: it is walked like any other component.
    queue.unshift(...mount.slice(this.top.length).split("/"), ...target.slice(prefix.length).split("/"));
  }

  #step(parent: Directory, name: string, shown: string, create: boolean): Directory | null {
    try {
      return this.#open(parent, name);
    } catch (error) {
      if (!create || codeOf(error) !== "ENOENT") throw asFailure(error, shown);
      this.#allow(posix.join(parent.at, name), parent.mount, "write", shown);
      this.makeDirectory(parent, name);
      return null;
    }
  }

  #open(parent: Directory, name: string): Directory {
    const at = posix.join(parent.at, name);
    const mount = this.#mounts.get(at);
    if (mount !== undefined) return directoryOf(mount, mount.fd, mount.host, at);
    const path = join(parent.path, name);
    return directoryOf(parent.mount, openSync(path, openDirectory), path, at);
  }

  #goUp(stack: Directory[], shown: string): void {
    const left = stack.pop();
    if (!left) throw outside(shown, "path_traversal_attempt", this.top);
    this.leave(left);
  }

  /** Closes what `enter` opened. The roots of mounts stay open as long as the view. */
  leave({ fd, mount }: Directory): void {
    if (fd !== mount.fd) closeSync(fd);
  }
}

const tooDeep = () => new ToolFailure("invalid_path", `A path may have ${maxDepth} names, and lead over ${maxSteps}`);

function directoryOf(mount: OpenMount, fd: number, path: string, at: string): Directory {
  return { fd, path: anchored ? `/proc/self/fd/${fd}` : path, at, mount };
}

function linkTarget(parent: Directory, name: string): string | null {
  try {
    return readlinkSync(join(parent.path, name));
  } catch {
    return null;
  }
}
