/**
 * What mounts can do of `spec.security.filesystem` (docs/reference/volumes.md): a pattern counts there by the part
 * before its first wildcard, and a directory is writable, readable or hidden as a whole.
 */

import { type Pattern, readPattern } from "./pattern.ts";
import type { FilesystemRules } from "./policy.ts";

export interface VolumePlace {
  /** `/workspace` or below. */
  readonly mount_path: string;
  readonly access_mode: "read-only" | "read-write";
}

/** One directory of the instance and how it shows. */
export interface MountPoint {
  /** Where in the instance. */
  readonly target: string;
  /** `mount_path` of the volume it is part of. */
  readonly volume: string;
  /** Path below the volume's root; empty: the root itself. */
  readonly relative: string;
  /** `hidden`: an empty directory stands in its place, in which deeper mount points may lie. */
  readonly access: "read-write" | "read-only" | "hidden";
}

/** The mount points of an instance, directories before what lies in them. */
export function mountPoints(volumes: readonly VolumePlace[], rules: FilesystemRules): MountPoint[] {
  const write = prefixes(rules.write);
  const read = rules.read.length === 0 ? null : [...prefixes(rules.read), ...write];
  const accessAt = (path: string, volume: VolumePlace): MountPoint["access"] => {
    if (read !== null && !read.some((prefix) => isWithin(path, prefix))) return "hidden";
    const writable =
      volume.access_mode === "read-write" &&
      !rules.read_only &&
      (rules.write.length === 0 || write.some((prefix) => isWithin(path, prefix)));
    return writable ? "read-write" : "read-only";
  };
  const ordered = [...volumes].sort(byTarget((volume) => volume.mount_path));
  const points: MountPoint[] = [];
  for (const volume of ordered) {
    const root = volume.mount_path;
    const below = [...write, ...(read ?? [])].filter(
      (prefix) => prefix !== root && volumeOf(ordered, prefix)?.mount_path === root,
    );
    const mine: MountPoint[] = [];
    for (const target of [root, ...new Set(below)].sort(byTarget((path) => path))) {
      const access = accessAt(target, volume);
      const around = mine.findLast((point) => isWithin(target, point.target));
      if (around?.access === access) continue;
      const relative = target.slice(root.length).replace(/^\//, "");
      mine.push({ target, volume: root, relative, access });
    }
    points.push(...mine);
  }
  return points.sort(byTarget((point) => point.target));
}

/** Whether a path is a directory or lies below it. Both absolute, without `.`, `..` and doubled slashes. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/** The volume that holds a path: the one mounted deepest above it. */
export function volumeOf<V extends { readonly mount_path: string }>(
  volumes: readonly V[],
  path: string,
): V | undefined {
  let found: V | undefined;
  for (const volume of volumes) {
    const closer = found === undefined || volume.mount_path.length > found.mount_path.length;
    if (closer && isWithin(path, volume.mount_path)) found = volume;
  }
  return found;
}

function prefixes(texts: readonly string[]): string[] {
  return texts
    .map(readPattern)
    .filter((pattern): pattern is Pattern => pattern !== null)
    .map(({ prefix }) => prefix);
}

const byTarget =
  <T>(targetOf: (item: T) => string) =>
  (a: T, b: T): number => {
    const [left, right] = [targetOf(a), targetOf(b)];
    return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
  };
