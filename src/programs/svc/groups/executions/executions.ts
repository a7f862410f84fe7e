/** `svc executions`. */
import type { Command } from "commander";
import { addChanges } from "./change.ts";
import { addFiles } from "./files.ts";
import { addShow } from "./show.ts";

export function executions(group: Command): void {
  addShow(group);
  addChanges(group);
  addFiles(group);
}
