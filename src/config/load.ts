/**
 * The configuration: the settings that the parts of the service declare, assembled, then read once from the environment
 * and from the file that it names. Nothing else reads the environment.
 */
import { suggestion } from "../../actors/kernel/nearest.ts";
import { type ConfigFile, readConfigFile, scalarAt } from "./file.ts";
import { anyText, BadValue, choice, type Setting, type SettingTable, text, type Values } from "./setting.ts";

/** Everything that is wrong with the configuration, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
  }
}

/** What every configuration has: how it is read depends on it. */
export const baseSettings = {
  mode: choice("SVC_MODE", {
    meaning: "development brings its own stores, token issuer and scripted model; production has none of them",
    of: ["production", "development"],
    default: "production",
  }),
  configFile: text("SVC_CONFIG_FILE", {
    meaning: "YAML or JSON file with the sections auth, llm_providers, llm_selection, egress, oauth and tool_servers",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "",
  }),
};

/** Beside the values: where they came from. */
export interface ConfigOrigin {
  /** The sections of the configuration file as written. */
  readonly file: ConfigFile;
  /** The environment, for `env:NAME` references that an operator writes into the configuration file. */
  readonly environment: (name: string) => string | undefined;
  /** Every variable byte for byte as it was set, for secrets whose names depend on what they are for. */
  readonly environmentAsSet: () => Readonly<Record<string, string | undefined>>;
  /** `SVC_*` variables that no part of the service reads, as sentences: probably misspelt. */
  readonly unknownSettings: readonly string[];
}

/** What a part of the service declares of the configuration. */
export interface SettingsDeclaration {
  readonly settings: SettingTable;
  /** Beginnings of further variables, whose names say what they are for. */
  readonly variablePrefixes?: readonly string[];
  /** What no single setting shows, as sentences; values that were not readable are undefined. */
  contradictions?(settings: never, mode: Mode): readonly string[];
}
export interface Mode {
  readonly production: boolean;
  readonly file: ConfigFile;
}

/**
 * All settings in one table. Two parts may declare one and the same setting.
 * @throws Error for two settings of one name
 */
export function assembleSettings(declarations: readonly SettingsDeclaration[]): SettingTable {
  const all: Record<string, Setting<unknown>> = { ...baseSettings };
  for (const [key, setting] of declarations.flatMap(({ settings }) => Object.entries(settings))) {
    const known = all[key] ?? Object.values(all).find(({ name }) => name === setting.name);
    if (known !== undefined && known !== setting) throw new Error(`two settings are called ${key} or ${setting.name}`);
    all[key] = setting;
  }
  return all;
}

/**
 * Reads the environment and the file it names. An empty variable counts as not set.
 * @returns a value for each setting, under the settings' keys
 * @throws ConfigError that lists every problem at once
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  declarations: readonly SettingsDeclaration[],
): Values<SettingTable> & ConfigOrigin {
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
  const { configFile } = baseSettings;
  const path = read(configFile.name);
  const file = (path === undefined ? undefined : attempt(configFile.name, () => readConfigFile(path))) ?? {};
  const table = assembleSettings(declarations);
  const entries = Object.entries(table).map(([key, setting]) => {
    const written = read(setting.name) ?? (setting.filePath === null ? undefined : scalarAt(file, setting.filePath));
    const value = attempt(setting.name, () =>
      written === undefined ? setting.fallback(read) : setting.parse(written),
    );
    return [key, value] as const;
  });
  const values: Record<string, unknown> = Object.fromEntries(entries);
  const mode: Mode = { production: values.mode === "production", file };
  // Each gets at least the values of the settings it declares itself.
  for (const { contradictions } of declarations) problems.push(...(contradictions?.(values as never, mode) ?? []));
  if (problems.length > 0) throw new ConfigError(problems);
  const prefixes = declarations.flatMap(({ variablePrefixes = [] }) => variablePrefixes);
  const unknownSettings = unknownVariables(env, file, Object.values(table), prefixes);
  return { ...values, file, environment: read, environmentAsSet: () => env, unknownSettings };
}

/** Of the command line, which may be called from the same shell. */
const ofOtherPrograms = ["API_URL", "USER_TOKEN", "TENANT", "CONTEXT", "OUTPUT"].map((name) => `SVC_${name}`);

/** Variables named like settings that are none, and that the file does not refer to as `env:NAME`. */
function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  file: ConfigFile,
  settings: readonly Setting<unknown>[],
  prefixes: readonly string[],
): readonly string[] {
  const names = settings.map(({ name }) => name);
  const referred = new Set([...JSON.stringify(file).matchAll(/env:(\w+)/g)].map(([, name]) => name));
  const known = new Set([...names, ...ofOtherPrograms]);
  return Object.keys(env)
    .filter((name) => name.startsWith("SVC_") && env[name] !== "" && !known.has(name) && !referred.has(name))
    .filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => `${name} is no setting and has no effect${suggestion(name, names)}`);
}
