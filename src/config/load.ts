/** Reads the configuration: every setting of the table from the environment or the file, all that is wrong at once. */

import { isPrivateAddress } from "../lib/private-address.ts";
import { type Config, settings } from "./config.ts";
import { readConfigFile, scalarAt } from "./file.ts";
import { BadValue, type Setting } from "./setting.ts";

/** Everything that is wrong with the configuration, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

/**
 * Reads the environment and the file it names. An empty variable counts as not set.
 * @throws ConfigError that lists every problem at once
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const read = (name: string) => env[name]?.trim() || undefined;
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      problems.push(`${name} ${error.message}`);
      return undefined;
    }
  };
  const path = read(settings.configFile.name);
  const file = (path === undefined ? undefined : attempt(settings.configFile.name, () => readConfigFile(path))) ?? {};
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    const written = read(setting.name) ?? (setting.filePath === null ? undefined : scalarAt(file, setting.filePath));
    const value = attempt(setting.name, () =>
      written === undefined ? setting.fallback(read) : setting.parse(written),
    );
    return [key, value] as const;
  });
  // Complete unless there are problems, and then it is not returned.
  const config = { ...Object.fromEntries(entries), file, environment: read, environmentAsSet: () => env } as Config;
  problems.push(...contradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** What no single setting shows. Fields that were not readable are undefined here. */
function contradictions(config: Partial<Config>): string[] {
  const problems: string[] = [];
  if (config.mode === "production") {
    if (config.databaseUrl === null) problems.push("DATABASE_URL is required in production");
    if (config.redisUrl === null) problems.push("REDIS_URL is required in production");
    const realms = config.authRealms ?? config.file?.auth?.realms;
    if (config.authRealms !== undefined && !(Array.isArray(realms) && realms.length > 0)) {
      problems.push("SVC_AUTH_REALMS (or auth.realms in SVC_CONFIG_FILE) must name at least one realm in production");
    }
    if (config.masterKey === null) {
      problems.push("SVC_MASTER_KEY is required in production: 32 bytes in base64, as openssl rand -base64 32 prints");
    }
  }
  const { internalHost } = config;
  if (config.dispatchAuth === "trusted_network" && internalHost !== undefined && !isPrivateAddress(internalHost)) {
    problems.push(
      `SVC_DISPATCH_AUTH trusted_network needs a loopback or private SVC_INTERNAL_HOST, not ${internalHost}`,
    );
  }
  // 0 asks for any free port, so two of them never meet.
  const ports = [
    config.port,
    config.internalPort,
    config.egressPort,
    ...(config.metricsEnabled === true ? [config.metricsPort] : []),
  ].filter((port) => port !== 0);
  if (new Set(ports).size < ports.length && !ports.includes(undefined)) {
    problems.push("SVC_PORT, SVC_INTERNAL_PORT, SVC_EGRESS_PORT and SVC_METRICS_PORT must differ");
  }
  return problems;
}
