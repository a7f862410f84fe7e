/** Changing what lies in a volume: directories made, files and directories moved and deleted. */

import { answering, invalidPath } from "../paths.ts";
import type { Places, VolumeAt } from "../places/port.ts";

export function createChanges(places: Places) {
  return {
    /** With everything in it. @throws Problem 404 `path_not_found`, 422 for the root */
    async remove(row: VolumeAt, path: string): Promise<void> {
      if (path === "/") throw invalidPath("is the volume itself");
      await answering(() => places.change(row, (change) => change.remove(path)));
    },

    /** With its parents; one that is there is fine. @throws Problem 409 where a file is */
    async makeDirectory(row: VolumeAt, path: string): Promise<void> {
      if (path === "/") return;
      await answering(() => places.change(row, (change) => change.makeDirectory(path)));
    },

    /** @throws Problem 404 `path_not_found`, 409 `destination_exists`, 422 into itself */
    async move(row: VolumeAt, from: string, to: string, overwrite: boolean): Promise<void> {
      if (from === "/" || to === "/") throw invalidPath("is the volume itself");
      if (to.startsWith(`${from}/`)) throw invalidPath("lies in what is to be moved");
      await answering(() => places.change(row, (change) => change.move(from, to, overwrite)));
    },
  };
}
