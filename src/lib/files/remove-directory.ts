import { lstatSync } from "node:fs";
import { overAgentsFiles } from "../processes/agents-programs.ts";

/** Removes a directory with everything in it. Repeatable. @throws Error when something is left */
export async function removeDirectory(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  // Agents can nest directories thousands deep: `rm` takes them away in a moment, Bun's own in minutes of a core.
  await overAgentsFiles(["rm", "-rf", "--", path], (output) => new Response(output).text());
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw new Error("the directory could not be removed");
}
