/** `svc stimuli`. */
import type { Command } from "commander";
import { addChanges } from "./change.ts";
import { addShow } from "./show.ts";

export function stimuli(group: Command): void {
  addChanges(group);
  addShow(group);
}
