/** `svc sources`. */
import type { Command } from "commander";
import { addChanges } from "./change.ts";
import { addShow } from "./show.ts";
import { addTest } from "./test.ts";

export function sources(group: Command): void {
  addChanges(group);
  addShow(group);
  addTest(group);
}
