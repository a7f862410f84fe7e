/** What a path leads to, as far as this process may know. A path that cannot be looked at counts as absent. */
import { accessSync, constants, type Stats, statSync } from "node:fs";

export const isFile = (path: string): boolean => statsOf(path)?.isFile() ?? false;

export const isDirectory = (path: string): boolean => statsOf(path)?.isDirectory() ?? false;

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Null also for a path that is too long, or that leads through what is closed or goes in circles. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
