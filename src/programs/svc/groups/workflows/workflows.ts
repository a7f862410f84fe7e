/** `svc workflows`. */
import type { Command } from "commander";
import { addRun } from "../runs/start.ts";
import { addChanges } from "./change.ts";
import { addGraph } from "./graph.ts";
import { addSchedules } from "./schedules.ts";
import { addShow } from "./show.ts";

export function workflows(group: Command): void {
  addChanges(group);
  addShow(group);
  addGraph(group);
  addRun(group);
  addSchedules(group);
}
