/** `svc agents`. */
import type { Command } from "commander";
import { addChanges } from "./change.ts";
import { addDeploy } from "./deploy.ts";
import { addInit } from "./init.ts";
import { addShow } from "./show.ts";

export function agents(group: Command): void {
  addInit(group);
  addDeploy(group);
  addShow(group);
  addChanges(group);
}
