/**
 * A mount inside another one needs a place there to be mounted on. It is made on the host, in the outer mount's
 * source, step by step and never through a link: agents write to these directories, and an outer mount that is
 * read-only inside could not get it any other way. Linux only, as is everything that mounts.
 */
import { closeSync, constants, fchownSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { normalize, relative } from "node:path";
import { lacksRoom } from "../../lib/files/disk-room.ts";
import { LaunchFailure } from "./instance.ts";

interface Mount {
  readonly source: string;
  readonly target: string;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_CREAT, O_EXCL, O_WRONLY, O_NONBLOCK } = constants;
const directoryOnly = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Where something may be mounted: below `/workspace`, or anywhere in a container but where the system or we are. */
export type MountRealm = "workspace" | "container";
const notTheirs = ["/proc", "/sys", "/dev", "/run"];

/**
 * @param mounts shortest targets first; a source is a directory or a file
 * @param owner  host user and group of what is made; null: the service's own
 * @throws LaunchFailure `volume_error` without one at `/workspace`, for a source that is neither, a link or something of the wrong kind in the
 *   way, a target outside of the realm
 */
export function prepareMountPoints(
  mounts: readonly Mount[],
  owner: number | null,
  realm: MountRealm = "workspace",
): void {
  if (!mounts.some(({ target }) => target === "/workspace")) {
    throw new LaunchFailure("volume_error", "Nothing is mounted at /workspace");
  }
  for (const [index, { source, target }] of mounts.entries()) {
    if (!mayBeMountedAt(target, realm) || mounts.findIndex((mount) => mount.target === target) !== index) {
      throw new LaunchFailure("volume_error", `Nothing can be mounted at ${target}`);
    }
    const outer = mounts.slice(0, index).findLast((mount) => target.startsWith(`${mount.target}/`));
    try {
      const kind = lstatSync(source);
      if (!kind.isDirectory() && !kind.isFile()) throw new Error("neither a directory nor a file");
      if (outer === undefined) continue;
      makeBelow(outer.source, target.slice(outer.target.length + 1).split("/"), kind.isDirectory(), owner);
    } catch (error) {
      // Repeating helps once there is room.
      if (lacksRoom(error)) throw error;
      const reason = error instanceof Error && "code" in error ? String(error.code) : "something is in the way";
      throw new LaunchFailure("volume_error", `The volume at ${target} cannot be mounted: ${reason}`);
    }
  }
}

/** Below the data directory only what belongs to one run or is one volume is mounted, never the folder around it. */
const ofOneRun = /^(workspaces|volumes|hidden|commands)\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\/|$)/;

/**
 * Whether a directory or file of the data directory may be seen by a run.
 * @param path absolute, with `dataDir` written alike in both
 */
export function isOfOneRun(path: string, dataDir: string): boolean {
  return normalize(path) === path && ofOneRun.test(relative(dataDir, path));
}

function mayBeMountedAt(target: string, realm: MountRealm): boolean {
  if (!/^(\/[^/\0]+)+$/.test(target) || /\/\.{1,2}(\/|$)/.test(target)) return false;
  const isWithin = (place: string) => target === place || target.startsWith(`${place}/`);
  return realm === "workspace" ? isWithin("/workspace") : !notTheirs.some(isWithin);
}

function makeBelow(root: string, names: readonly string[], directory: boolean, owner: number | null): void {
  let at = openSync(root, directoryOnly);
  try {
    for (const [index, name] of names.entries()) {
      // By descriptor, so that no agent can put a link in the way between looking and making.
      const path = `/proc/self/fd/${at}/${name}`;
      const asDirectory = directory || index < names.length - 1;
      const made = unlessThere(() =>
        asDirectory
          ? mkdirSync(path, { mode: 0o755 })
          : closeSync(openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)),
      );
      const next = openSync(path, asDirectory ? directoryOnly : O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      closeSync(at);
      at = next;
      if (made && owner !== null) fchownSync(at, owner, owner);
    }
  } finally {
    closeSync(at);
  }
}

/** @returns false where something is there already */
function unlessThere(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}
