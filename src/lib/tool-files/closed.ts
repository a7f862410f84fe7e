/** The directory that no call enters, told by what directories are and not by their paths, of which one may have several. */
import { fstatSync, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { ClosedDirectory } from "./view-spec.ts";

export class Closed {
  readonly #stats: Stats;

  /** @throws where the directory is not there */
  constructor(private readonly directory: ClosedDirectory) {
    this.#stats = statSync(directory.host);
  }

  /** Whether it is this directory itself. */
  is(stats: Stats | null): boolean {
    return stats !== null && isSame(stats, this.#stats);
  }

  /** Whether a name in an open directory is one of its closed names. */
  holds(parent: number, name: string): boolean {
    return name !== this.directory.except && this.is(fstatSync(parent));
  }

  /** Whether a file is one of its files, under another name. */
  shares(file: Stats): boolean {
    if (file.nlink < 2 || file.dev !== this.#stats.dev) return false;
    return readdirSync(this.directory.host).some((name) => {
      const stats = lstatSync(join(this.directory.host, name), { throwIfNoEntry: false });
      return stats !== undefined && isSame(stats, file);
    });
  }
}

const isSame = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.dev === other.dev;
