/** What the configuration names, opened as far as that is possible without the stores: its faults are told first. */
import { readFileSync } from "node:fs";
import { type EgressEnvironment, type Resolver, readEgress, systemResolver } from "../adapters/egress/port.ts";
import { openModels } from "../adapters/models/port.ts";
import type { Sandbox } from "../adapters/sandbox/port.ts";
import { readConfigFile } from "../config/file.ts";
import { ConfigError } from "../config/load.ts";
import type { AnyFeature } from "../features/feature.ts";
import { readIdentity } from "../identity/open.ts";
import type { Config } from "./config.ts";

/** Parts a caller may bring instead of what the configuration names. */
export interface NodeOverrides {
  /** Beside those that every node has. */
  readonly features?: readonly AnyFeature[];
  readonly sandbox?: Sandbox;
  /** Instead of the system's: what names agents call resolve to. */
  readonly resolve?: Resolver;
  /** Whether further nodes of this machine listen at the public port. */
  readonly sharedPort?: boolean;
}

export type ValidatedConfig = Awaited<ReturnType<typeof validateConfig>>;

/** @throws ConfigError with everything that does not fit */
export async function validateConfig(config: Config, overrides: NodeOverrides) {
  const { settings: identity, problems } = readIdentity(config);
  const egress = readEgress(config.egressAllowPrivate, config.file.egress);
  if (identity === null || egress.problems.length > 0) throw new ConfigError([...problems, ...egress.problems]);
  const outside: EgressEnvironment = { resolve: overrides.resolve ?? systemResolver, ...egress.settings };
  const opened = await openModels({
    document: config.file,
    development: config.mode === "development",
    environment: config.environment,
    readFile: (path) => readFileSync(path, "utf8"),
    readAgain: () => (config.configFile === "" ? {} : readConfigFile(config.configFile)),
    ollama: config.ollamaUrl,
  });
  if (!opened.ok) throw new ConfigError(opened.issues.map(({ path, message }) => `${path}: ${message}`));
  return { identity, outside, models: opened.models };
}
