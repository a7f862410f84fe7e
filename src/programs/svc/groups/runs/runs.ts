/** `svc runs`. */
import type { Command } from "commander";
import { addAgain } from "./again.ts";
import { addShow } from "./show.ts";
import { addRun } from "./start.ts";
import { addSteer } from "./steer.ts";

export function runs(group: Command): void {
  addRun(group);
  addShow(group);
  addSteer(group);
  addAgain(group);
}
