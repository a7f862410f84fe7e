/**
 * Programs that the service needs and cannot bring along: found on the machine, else installed by its package manager,
 * where this process may do so.
 */

export interface SystemProgram {
  /** Looked for on `path`. */
  readonly program: string;
  /** Package that holds it; null, or absent, where that package manager has none. */
  readonly packages: {
    readonly apt: string | null;
    readonly brew: string | null;
    readonly dnf?: string;
    readonly apk?: string;
  };
  /** Directories as in the variable PATH, which is meant where they are absent. */
  readonly path?: string;
  /** Whether this process is root: without, a Debian package cannot be installed. */
  readonly root: boolean;
  /** One line about what takes long. */
  log(message: string): void;
}

/** A package manager without a network can wait for minutes. */
const limitMs = 180_000;

/** @returns the program's path; null when it is missing and could not be installed */
export async function findOrInstall(wanted: SystemProgram): Promise<string | null> {
  const { program, log } = wanted;
  const present = find(wanted, program);
  if (present !== null) return present;
  const commands = installCommands(wanted);
  if (commands === null) return null;
  log(`${program} is missing; installing it: ${commands.map((command) => command.join(" ")).join(" && ")}`);
  for (const command of commands) {
    const child = Bun.spawn(command, {
      stdio: ["ignore", "ignore", "inherit"],
      timeout: limitMs,
    });
    if ((await child.exited) !== 0) break;
  }
  return find(wanted, program);
}

const find = ({ path }: SystemProgram, program: string) =>
  Bun.which(program, path === undefined ? undefined : { PATH: path });

function installCommands(wanted: SystemProgram): readonly string[][] | null {
  const { packages, root } = wanted;
  const [apt, brew] = [find(wanted, "apt-get"), find(wanted, "brew")];
  if (apt !== null && root && packages.apt !== null) {
    // Another node of the machine may be installing at this moment.
    const quiet = ["-qq", "-o", "DPkg::Lock::Timeout=60"];
    const install = ["install", "-y", ...quiet, "--no-install-recommends", packages.apt];
    return [
      [apt, "update", ...quiet],
      ["env", "DEBIAN_FRONTEND=noninteractive", apt, ...install],
    ];
  }
  const [dnf, apk] = [find(wanted, "dnf"), find(wanted, "apk")];
  if (dnf !== null && root && packages.dnf !== undefined) return [[dnf, "install", "-y", "-q", packages.dnf]];
  if (apk !== null && root && packages.apk !== undefined) return [[apk, "add", "--quiet", packages.apk]];
  return brew !== null && packages.brew !== null ? [[brew, "install", packages.brew]] : null;
}
