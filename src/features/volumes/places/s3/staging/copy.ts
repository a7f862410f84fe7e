/** The copy of a volume on this host: its directory, and what is known of its files since they were last in line. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../../../../../../actors/kernel/json.ts";
import { LaunchFailure } from "../../../../../adapters/sandbox/port.ts";
import { removeDirectory } from "../../../../../lib/files/remove-directory.ts";
import { overAgentsFiles } from "../../../../../lib/processes/agents-programs.ts";
import { makeVolumeDirectory, type VolumeLayout } from "../../../layout.ts";
import { readPath } from "../../../paths.ts";
import { maxStaged } from "./records.ts";

/** A file as both sides had it. */
export interface Known {
  /** Of the entry in the index. */
  readonly id: string;
  /** Tells one state of the file on the disk from another; nothing that runs in an instance can set it. */
  readonly mark: string;
  readonly sha256: string;
}

/** What was in line: files by their paths, directories as null. Paths begin without a slash. */
export type Manifest = Map<string, Known | null>;

export interface OnDisk {
  readonly directory: boolean;
  readonly size: number;
  readonly mark: string;
}

const markOf = (size: string, changed: string, inode: string): string => `${size} ${changed} ${inode}`;

/** The mark of an open or a placed file. */
export function markOfStats(stats: { size: bigint; ctimeNs: bigint; ino: bigint }): string {
  return markOf(String(stats.size), String(stats.ctimeNs), String(stats.ino));
}

export class VolumeCopy {
  readonly directory: string;
  readonly #manifest: string;

  constructor(
    readonly layout: VolumeLayout,
    readonly volumeId: string,
    readonly maxEntries: number = maxStaged,
  ) {
    this.directory = layout.volume(volumeId);
    this.#manifest = join(layout.staged, `${volumeId}.json`);
  }

  async make(): Promise<void> {
    await mkdir(this.layout.staged, { recursive: true, mode: 0o700 });
    await makeVolumeDirectory(this.directory);
  }

  /** Empty where it cannot be read: then nothing on the disk is known to be in line. */
  known(): Manifest {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#manifest, "utf8"));
      // The file is the service's own, and this is what it writes.
      return new Map(Object.entries(isObject(parsed) ? parsed : {})) as unknown as Manifest;
    } catch {
      return new Map();
    }
  }

  note(manifest: Manifest): void {
    const fresh = `${this.#manifest}.new`;
    writeFileSync(fresh, JSON.stringify(Object.fromEntries(manifest)), { mode: 0o600, flush: true });
    renameSync(fresh, this.#manifest);
  }

  async remove(): Promise<void> {
    await removeDirectory(this.directory);
    await removeDirectory(this.#manifest);
  }

  /**
   * Every directory and regular file that a path of the routes can name; links and what else there is are no files of a
   * volume. @throws LaunchFailure `volume_error` where there are too many
   */
  async look(): Promise<Map<string, OnDisk>> {
    const what = ["-mindepth", "1", "(", "-type", "f", "-o", "-type", "d", ")"];
    const shown = ["-printf", "%y %s %C@ %i %P\\0"];
    const found = await overAgentsFiles(["find", this.directory, "-xdev", ...what, ...shown], (output) =>
      entriesIn(output, this.maxEntries),
    );
    if (found === null) throw tooMany();
    return found;
  }
}

export const tooMany = (): LaunchFailure =>
  new LaunchFailure("volume_error", `A volume of the object store with more than ${maxStaged} files cannot be mounted`);

/** Null: there are too many. */
async function entriesIn(output: ReadableStream<Uint8Array>, most: number): Promise<Map<string, OnDisk> | null> {
  const found = new Map<string, OnDisk>();
  let isTooMany = false;
  let rest = Buffer.alloc(0);
  for await (const chunk of output) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const line = rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
      const [, type, size = "", seconds = "", fraction = "", inode = "", path = ""] =
        /^([fd]) (\d+) (\d+)\.(\d{9})\d* (\d+) (.*)$/s.exec(line) ?? [];
      if (type === undefined || !isNameable(path)) continue;
      isTooMany ||= found.size >= most;
      if (isTooMany) continue;
      const mark = markOf(size, `${seconds}${fraction}`.replace(/^0+(?=\d)/, ""), inode);
      found.set(path, { directory: type === "d", size: Number(size), mark });
    }
  }
  return isTooMany ? null : found;
}

function isNameable(path: string): boolean {
  if (path.includes("\ufffd")) return false;
  try {
    return readPath(path) === `/${path}`;
  } catch {
    return false;
  }
}
