/** Changing what lies in a volume: directories made, files and directories moved and deleted. */
import { renameSync } from "node:fs";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { runFsTool } from "../../tools/fs/feature.ts";
import { address, View, type ViewSpec, viewOf } from "../../tools/fs/port.ts";
import { outcomeOf, ToolFailure } from "../../tools/port.ts";
import type { VolumeRow } from "../records.ts";
import type { VolumeService } from "../service.ts";
import type { Digests } from "./digests.ts";
import { lookAt } from "./files.ts";
import { answering, invalidPath, leadsOut, pathNotFound } from "./paths.ts";

export function createChanges(service: VolumeService, digests: Digests) {
  const viewFor = (row: VolumeRow): ViewSpec => viewOf(service.layout.volume(row.volume_id), "/");

  async function run(row: VolumeRow, name: string, given: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const request = { name, arguments: given, tenant: row.tenant, signal };
    const outcome = await runFsTool(viewFor(row), request).catch(outcomeOf);
    if (outcome.status === "refused") throw leadsOut(outcome.attempted);
    if (outcome.status === "failed") throw new ToolFailure(outcome.code, outcome.message);
  }

  return {
    /** With everything in it. @throws Problem 404 `path_not_found`, 422 for the root */
    async remove(row: VolumeRow, path: string, signal: AbortSignal): Promise<void> {
      if (path === "/") throw invalidPath("is the volume itself");
      await answering(() => run(row, "fs.delete", { path, recursive: true }, signal)).finally(() =>
        service.records.doubt(row.tenant, row.volume_id),
      );
      await digests.forget(row.volume_id, path);
    },

    /** With its parents; one that is there is fine. @throws Problem 409 where a file is */
    async makeDirectory(row: VolumeRow, path: string, signal: AbortSignal): Promise<void> {
      if (path === "/") return;
      try {
        await run(row, "fs.create_dir", { path }, signal);
      } catch (error) {
        const taken = error instanceof ToolFailure && ["already_exists", "not_a_directory"].includes(error.code);
        if (taken) throw destinationExists();
        await answering(() => Promise.reject(error));
      }
    },

    /** @throws Problem 404 `path_not_found`, 409 `destination_exists`, 422 into itself */
    async move(row: VolumeRow, from: string, to: string, overwrite: boolean): Promise<void> {
      if (from === "/" || to === "/") throw invalidPath("is the volume itself");
      if (to.startsWith(`${from}/`)) throw invalidPath("lies in what is to be moved");
      const view = viewFor(row);
      await answering(() => lookAt(view, from));
      if (from === to) return;
      if (!overwrite && isThere(view, to)) throw destinationExists();
      await answering(() => rename(view, from, to));
      await service.records.doubt(row.tenant, row.volume_id);
      await digests.forget(row.volume_id, from);
      await digests.forget(row.volume_id, to);
    },
  };
}

const destinationExists = (): Problem => new Problem("destination_exists", "Something else is at that path");

function isThere(spec: ViewSpec, path: string): boolean {
  using view = new View(spec);
  try {
    return view.at(path, { access: "see", keepLink: true }, (found) => view.kindOf(found) !== null);
  } catch (error) {
    if (error instanceof ToolFailure && error.code === "not_found") return false;
    throw error instanceof ToolFailure && error.code === "not_a_directory" ? destinationExists() : error;
  }
}

function rename(spec: ViewSpec, from: string, to: string): void {
  using view = new View(spec);
  view.at(from, { access: "write", keepLink: true }, (source) => {
    if (view.kindOf(source) === null) throw pathNotFound();
    try {
      view.at(to, { access: "write", keepLink: true, createParents: true }, (target) =>
        renameSync(address(source), address(target)),
      );
    } catch (error) {
      // A directory over a file, or over one that is not empty.
      if (error instanceof ToolFailure && !["not_found", "invalid_path"].includes(error.code))
        throw destinationExists();
      throw error;
    }
  });
}
