/** The service that starts the daemon: installed, removed, asked and restarted, by systemd or launchd. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { replaceFile, type StateDirectory } from "../../../edge-daemon/state/directory.ts";
import { type Environment, variable } from "../command/environment.ts";
import { Failure } from "../command/exit.ts";
import { agentLabel, launchdAgent } from "./launchd.ts";
import { type UnitSpec, unitName } from "./spec.ts";
import { systemdUnit } from "./systemd.ts";

export interface ServiceFacts {
  readonly name: string;
  readonly file: string;
  readonly installed: boolean;
  readonly running: boolean;
  /** In the words of the system. */
  readonly state: string;
  readonly pid: number | null;
}

export interface HostService {
  readonly name: string;
  readonly file: string;
  readonly isInstalled: () => boolean;
  /** Writes the unit and starts the daemon. @returns remarks for the operator @throws Failure */
  readonly install: (spec: UnitSpec) => Promise<readonly string[]>;
  /** Stops the daemon and takes the unit away. @throws Failure */
  readonly uninstall: () => Promise<void>;
  /** @throws Failure */
  readonly stop: () => Promise<void>;
  /** @throws Failure */
  readonly restart: () => Promise<void>;
  readonly facts: () => Promise<ServiceFacts>;
  /** The command that shows what the daemon has said. */
  readonly logs: (lines: number, follow: boolean) => readonly string[];
}

interface Done {
  readonly code: number;
  readonly out: string;
}

/**
 * @param system `linux` or `darwin`
 * @param wide   where units of the whole machine are
 */
export function serviceFor(
  state: StateDirectory,
  environment: Pick<Environment, "variables">,
  system: NodeJS.Platform = process.platform,
  wide = "/etc/systemd/system",
): HostService {
  const home = variable(environment, "HOME") ?? homedir();
  const name = unitName(state);
  if (system === "darwin") return launchd(name, home, runner(environment));
  const file = join(wide, "svc-edge.service");
  return isUnitOf(file, state) ? systemd("svc-edge", file, true, environment) : ofUser(name, home, environment);
}

/** Whether root has a unit there that starts the daemon of this state directory (deploy/svc-edge.service). */
function isUnitOf(file: string, { path }: StateDirectory): boolean {
  if (process.getuid?.() !== 0 || !existsSync(file)) return false;
  return readFileSync(file, "utf8")
    .split(/\s+/)
    .some((word) => word.replaceAll('"', "") === path);
}

function ofUser(name: string, home: string, environment: Pick<Environment, "variables">): HostService {
  const folder = variable(environment, "XDG_CONFIG_HOME") ?? join(home, ".config");
  return systemd(name, join(folder, "systemd/user", `${name}.service`), false, environment);
}

type Run = (...command: readonly string[]) => Promise<Done>;

/** Runs a command of the system. Its words are few; what it writes besides is shown where it fails. */
const runner =
  ({ variables }: Pick<Environment, "variables">): Run =>
  async (...command) => {
    const [program = ""] = command;
    if (Bun.which(program, { PATH: variables.PATH ?? "" }) === null)
      throw new Failure("unavailable", `there is no ${program} on this machine`, "no_service_manager");
    const child = Bun.spawn([...command], {
      env: { ...variables },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 180_000,
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out: `${out}${error}`.trim() };
  };

/** @throws Failure `unavailable` where the command fails */
async function must(run: Run, ...command: readonly string[]): Promise<Done> {
  const done = await run(...command);
  if (done.code === 0) return done;
  const said = done.out === "" ? `it ended with ${done.code}` : done.out.slice(0, 500);
  throw new Failure("unavailable", `${command.join(" ")}: ${said}`, "service_manager_failed");
}

/** Replaced as a whole; a proxy's password may be in it. */
function writeUnit(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    replaceFile(file, text);
  } catch (error) {
    throw new Failure("conflict", `${file} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param isWide the unit is an administrator's, for the whole machine */
function systemd(
  name: string,
  file: string,
  isWide: boolean,
  environment: Pick<Environment, "variables">,
): HostService {
  const run = runner(environment);
  const unit = `${name}.service`;
  const scope = isWide ? [] : ["--user"];
  const isInstalled = () => existsSync(file);
  return {
    ...{ name, file, isInstalled },
    async install(spec) {
      if (isWide) throw new Failure("conflict", `${file} is there, and not this program's`, "service_exists");
      writeUnit(file, systemdUnit(spec));
      await must(run, "systemctl", "--user", "daemon-reload");
      await must(run, "systemctl", "--user", "enable", unit);
      await must(run, "systemctl", "--user", "restart", unit);
      const lingers = await run("loginctl", "enable-linger").catch(() => null);
      return lingers?.code === 0
        ? []
        : ["the daemon ends when this user signs out; loginctl enable-linger, as root, lets it run on"];
    },
    async uninstall() {
      if (isWide) throw new Failure("conflict", `${file} is not this program's to remove`, "service_exists");
      if (!isInstalled()) return;
      await must(run, "systemctl", "--user", "disable", "--now", unit);
      rmSync(file, { force: true });
      await must(run, "systemctl", "--user", "daemon-reload");
    },
    stop: async () => void (await must(run, "systemctl", ...scope, "stop", unit)),
    restart: async () => void (await must(run, "systemctl", ...scope, "restart", unit)),
    async facts() {
      const { code, out } = await run("systemctl", ...scope, "show", unit, "-p", "ActiveState,SubState,MainPID");
      const value = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(out)?.[1] ?? "";
      const pid = Number(value("MainPID"));
      const state = code === 0 ? `${value("ActiveState")} (${value("SubState")})` : out.split("\n")[0] || "unknown";
      return { name, file, installed: isInstalled(), running: pid > 0, state, pid: pid > 0 ? pid : null };
    },
    logs: (lines, follow) => [
      ...["journalctl", ...scope, "-u", unit, "-n", String(lines), "-o", "cat", "--no-pager"],
      ...(follow ? ["-f"] : []),
    ],
  };
}

function launchd(name: string, home: string, run: Run): HostService {
  const label = agentLabel({ name });
  const file = join(home, "Library/LaunchAgents", `${label}.plist`);
  const log = join(home, "Library/Logs", `${name}.log`);
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const isInstalled = () => existsSync(file);
  return {
    ...{ name, file, isInstalled },
    async install(spec) {
      mkdirSync(dirname(log), { recursive: true });
      writeUnit(file, launchdAgent(spec, log));
      // One that runs by a former text is taken away first; there may be none.
      await run("launchctl", "bootout", `${domain}/${label}`);
      await must(run, "launchctl", "bootstrap", domain, file);
      return [];
    },
    async uninstall() {
      if (!isInstalled()) return;
      await run("launchctl", "bootout", `${domain}/${label}`);
      rmSync(file, { force: true });
    },
    stop: async () => void (await must(run, "launchctl", "bootout", `${domain}/${label}`)),
    async restart() {
      // A daemon that must not be started again has unloaded its agent.
      const isLoaded = (await run("launchctl", "print", `${domain}/${label}`)).code === 0;
      if (isLoaded) await must(run, "launchctl", "kickstart", "-k", `${domain}/${label}`);
      else await must(run, "launchctl", "bootstrap", domain, file);
    },
    async facts() {
      const { code, out } = await run("launchctl", "print", `${domain}/${label}`);
      const pid = Number(/^\s*pid = (\d+)$/m.exec(out)?.[1] ?? 0);
      const state = /^\s*state = (.+)$/m.exec(out)?.[1] ?? (code === 0 ? "loaded" : "not loaded");
      return { name, file, installed: isInstalled(), running: pid > 0, state, pid: pid > 0 ? pid : null };
    },
    logs: (lines, follow) => ["tail", "-n", String(lines), ...(follow ? ["-F"] : []), log],
  };
}
