/** The environment of a command: what the configuration names, and nothing else of the daemon's. */
import type { EdgeConfig } from "../config/config.ts";
import { commandVariable } from "./process-tree.ts";

export interface CommandEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Names of the additions that were not let through. */
  readonly dropped: readonly string[];
}

/**
 * What makes the programs that stand before a command (shell, bubblewrap, setpriv) run or load something of the caller's:
 * they start before the journal knows of the command, and as the daemon's user. `*` does not mean these.
 */
const steering = new Set([
  ...["SHELLOPTS", "BASHOPTS", "PS4", "GCONV_PATH", "GETCONF_DIR", "LOCPATH", "NLSPATH"],
  ...["GLIBC_TUNABLES", "MALLOC_TRACE", "OPENSSL_CONF", "OPENSSL_MODULES"],
]);
/** A shell takes functions from names that are none. */
const isOrdinary = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !steering.has(name);

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
  const isAllowed = (name: string) => allow.includes(name) || (allow.includes("*") && isOrdinary(name));
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
