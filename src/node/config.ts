/** The configuration of a node: its own settings, and those that identity, the adapters and the features declare. */
import { egressSettings } from "../adapters/egress/port.ts";
import { mailSettings } from "../adapters/mail/port.ts";
import { modelSettings } from "../adapters/models/port.ts";
import { sandboxSettings } from "../adapters/sandbox/port.ts";
import {
  assembleSettings,
  type baseSettings,
  type ConfigOrigin,
  readConfig,
  type SettingsDeclaration,
} from "../config/load.ts";
import { describeSettings, type SettingTable, type Values } from "../config/setting.ts";
import { identityContradictions, identitySettings } from "../identity/settings.ts";
import { features } from "./features.ts";
import { nodeContradictions, nodeSettings } from "./settings.ts";

const sources = [
  { settings: nodeSettings, contradictions: nodeContradictions },
  { settings: identitySettings, contradictions: identityContradictions },
  { settings: modelSettings },
  { settings: sandboxSettings },
  { settings: egressSettings },
  { settings: mailSettings },
] as const;

const declarations: readonly SettingsDeclaration[] = [
  ...sources,
  ...features,
  { settings: {}, contradictions: samePorts },
];

type SettingsSource = (typeof sources)[number] | (typeof features)[number];
type Union<T> = T extends SettingsSource ? Values<T["settings"]> : never;
type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (all: infer I) => void ? I : never;

/** Every setting's value, and where the values came from. */
export type Config = Values<typeof baseSettings> & Intersection<Union<SettingsSource>> & ConfigOrigin;

/** @throws ConfigError that lists every problem at once */
export const loadConfig = (environment: Readonly<Record<string, string | undefined>>): Config =>
  // The values are those of the settings of `declarations`, which the type is made of as well.
  readConfig(environment, declarations) as unknown as Config;

/** Every setting of the service, by its name in `Config`. */
export const settings: SettingTable = assembleSettings(declarations);

/** The settings as an aligned table, for `--help`. */
export const configTable = (): string => describeSettings(Object.values(settings));

/** What features say beside it. */
export const configNotes = (): readonly string[] =>
  features.flatMap((feature: { readonly help?: string }) => feature.help ?? []);

/** Whether listeners share a port. 0 asks for any free port, so two of them never meet. */
function samePorts(config: Partial<Config>): readonly string[] {
  const { port, internalPort, egressPort, metricsEnabled, metricsPort, nodes = 1 } = config;
  const metrics =
    metricsPort === undefined || metricsPort === 0 || metricsEnabled !== true
      ? []
      : Array.from({ length: nodes }, (_, index) => metricsPort + index);
  const taken = [port, internalPort, egressPort, ...metrics].filter((one) => one !== 0);
  if (taken.includes(undefined)) return [];
  if (metrics.some((one) => one > 65_535)) return ["SVC_METRICS_PORT leaves no port for each of SVC_NODES"];
  if (new Set(taken).size === taken.length) return [];
  return ["SVC_PORT, SVC_INTERNAL_PORT, SVC_EGRESS_PORT and SVC_METRICS_PORT (one for each of SVC_NODES) must differ"];
}
