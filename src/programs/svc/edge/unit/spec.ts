/** How the daemon is started by the system: what the texts of systemd and launchd are made from. */
import { homedir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "../../../../lib/digest.ts";
import { type StateDirectory, stateAt } from "../../../edge-daemon/state/directory.ts";
import type { Environment } from "../command/environment.ts";
import { usageFailure } from "../command/exit.ts";

export interface UnitSpec {
  /** Of the unit: one for each state directory. */
  readonly name: string;
  /** The daemon's command line. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What a daemon needs of the environment that it is installed from: ways out, and whom to trust. Never a token. */
const passed = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"],
];

export const unitName = ({ path }: StateDirectory): string =>
  path === stateAt(join(homedir(), ".svc/edge")).path ? "svc-edge" : `svc-edge-${sha256Hex(path).slice(0, 8)}`;

/**
 * @param program the words that start this program, before a verb
 * @throws Failure `usage` for a value with a line break, which no unit can hold
 */
export function unitSpec(
  state: StateDirectory,
  config: string | null,
  program: readonly string[],
  { variables }: Pick<Environment, "variables">,
): UnitSpec {
  const values = passed.flatMap((name) => (variables[name] ? [[name, variables[name]] as const] : []));
  const command = [
    ...program,
    ...["daemon", "--state-dir", state.path],
    ...(config === null ? [] : ["--config", config]),
  ];
  const odd = [...command, ...values.map(([, value]) => value)].find((text) => /[\r\n\0]/.test(text));
  if (odd !== undefined) throw usageFailure(`${JSON.stringify(odd)} holds a line break`);
  return { name: unitName(state), command, environment: Object.fromEntries(values) };
}
