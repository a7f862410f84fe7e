/** The environment of a command: what the configuration names, and nothing else of the daemon's. */
import type { EdgeConfig } from "../config/config.ts";
import { commandVariable } from "./process-tree.ts";

export interface CommandEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Names of the additions that were not let through. */
  readonly dropped: readonly string[];
}

/**
 * @param additions that may come from outside @param dropped names that were taken out of them already
 * @param own variables of the daemon
 */
export function commandEnvironment(
  { pass, allow }: EdgeConfig["env"],
  commandId: string,
  additions: Readonly<Record<string, string>>,
  dropped: readonly string[],
  own: Readonly<Record<string, string | undefined>>,
): CommandEnvironment {
  const isAllowed = (name: string) => allow.includes("*") || allow.includes(name);
  const passed = pass.flatMap((name): [string, string][] => {
    const value = own[name];
    return value === undefined ? [] : [[name, value]];
  });
  const names = Object.keys(additions);
  return {
    env: {
      ...Object.fromEntries(passed),
      ...Object.fromEntries(Object.entries(additions).filter(([name]) => isAllowed(name))),
      [commandVariable]: commandId,
    },
    dropped: [...dropped, ...names.filter((name) => !isAllowed(name))].sort(),
  };
}
