/** `svc approvals`. */
import type { Command } from "commander";
import { addDecisions } from "./decide.ts";
import { addShow } from "./show.ts";

export function approvals(group: Command): void {
  addShow(group);
  addDecisions(group);
}
