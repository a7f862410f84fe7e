/**
 * Bubblewrap: an instance sees the host's programs read-only, its workspace, a private `/tmp` and nothing
 * else; it has own processes, an own network without any way out, and an unprivileged user. What it may ask of the
 * kernel goes through the filter of `seccomp.ts`.
 *
 * Two ways in. As root, bubblewrap builds the namespaces and the user is dropped inside, so the agent's
 * user is a real unprivileged one. Otherwise a user namespace maps user 1000 to the service's own user.
 * Nothing that an agent controls is in the environment while privileges are still held: the command given
 * here sets its variables itself, as the last step of all.
 */

import { closeSync, existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { agentUser } from "../../../../lib/files/agent-files.ts";
import { writeAtomically } from "../../../../lib/files/json-file.ts";
import type { InstanceLimits, InstanceMount } from "../../instance.ts";
import { instancePaths, readOnlyTemporaryBytes } from "../../instance-environment.ts";
import type { Layout } from "../layout.ts";
import { isWithin } from "./host-program.ts";
import { descriptors, openTexts, resolvedSource } from "./mount-sources.ts";
import { seccompFilter } from "./seccomp.ts";

export type UserMode = "dropped" | "mapped";

export interface Bubblewrap {
  readonly path: string;
  readonly setpriv: string | null;
  readonly users: UserMode;
  /** Whether it can mount what is already open; without, a mount goes by its path. */
  readonly mountsOpened: boolean;
  /** File of the filter of system calls; null where the kernel or bubblewrap takes none. */
  readonly filter: string | null;
  /** Bubblewrap itself keeps further user namespaces from being made inside (`--disable-userns`). */
  readonly userNamespacesDisabled: boolean;
  /** Directories and files of the service, absolute: hidden where they lie in what every instance sees. */
  readonly own: readonly string[];
}

/** Protections that this host does not give, by the names of `unenforced_limits`. */
export function missingProtections({
  filter,
  userNamespacesDisabled,
}: Pick<Bubblewrap, "filter" | "userNamespacesDisabled">): string[] {
  return [
    ...(filter === null ? ["system_calls"] : []),
    // The filter refuses them too.
    ...(filter === null && !userNamespacesDisabled ? ["user_namespaces"] : []),
  ];
}

export interface BubblewrapRun {
  readonly limits: InstanceLimits;
  /** Shortest targets first. */
  readonly mounts: readonly InstanceMount[];
  /** Leaves `/tmp` small; everything else but the mounts is read-only anyway. */
  readonly readOnlyRoot: boolean;
  /** Host directory of the gateways' sockets; null: they are not there. */
  readonly gateway: string | null;
  /** Host directory of the egress proxies' sockets; null: they are not there. */
  readonly egress: string | null;
  /** Whether `/dev/shm` can be written to. */
  readonly sharedMemory: boolean;
  /** Read-only files: path inside → path on the host. */
  readonly files: Readonly<Record<string, string>>;
  /** Run inside, as the agent's user and with an empty environment. */
  readonly argv: readonly string[];
}

/**
 * Looks for bubblewrap and really runs it, with every protection first and then with fewer; null when it cannot hold
 * anything here.
 * @param own directories and files of the service, absolute
 * @param countedMemory whether control groups count the memory of instances
 * @param failed called with what bubblewrap says where it cannot run
 */
export async function findBubblewrap(
  layout: Layout,
  own: readonly string[] = [],
  countedMemory = true,
  failed: (reason: string) => void = () => {},
): Promise<Bubblewrap | null> {
  if (process.platform !== "linux") return null;
  const path = Bun.which("bwrap", { PATH: trustedPath });
  const setpriv = Bun.which("setpriv", { PATH: trustedPath });
  if (path === null) return null;
  await writeIdentityFiles(layout);
  const users: UserMode = process.getuid?.() === 0 ? "dropped" : "mapped";
  if (users === "dropped" && setpriv === null) return null;
  const filter = await writeFilter(layout, countedMemory);
  const bubblewrap: Bubblewrap = {
    path,
    setpriv,
    users,
    mountsOpened: canMountOpened(path),
    filter,
    userNamespacesDisabled: users === "mapped",
    own: [layout.dataDir, ...own],
  };
  const fewer = [
    bubblewrap,
    { ...bubblewrap, userNamespacesDisabled: false },
    { ...bubblewrap, filter: null },
    { ...bubblewrap, userNamespacesDisabled: false, filter: null },
  ];
  for (const each of fewer.filter((one, index) => fewer.findIndex((other) => Bun.deepEquals(one, other)) === index)) {
    const fault = await faultUnder(each, layout);
    if (fault === null) return each;
    failed(fault);
  }
  return null;
}

/** Null when a program runs under it as the agents' user; else what it says. */
async function faultUnder(bubblewrap: Bubblewrap, layout: Layout): Promise<string | null> {
  const run: BubblewrapRun = {
    limits: { cpuMillicores: 1_000, memoryBytes: 2 ** 26, diskBytes: 2 ** 26, processes: 64 },
    mounts: [{ source: layout.workspaces, target: instancePaths.workspace, readOnly: false }],
    readOnlyRoot: false,
    gateway: layout.gateway,
    egress: null,
    sharedMemory: true,
    files: {},
    argv: ["/usr/bin/id", "-u"],
  };
  const plain = { ...bubblewrap, mountsOpened: false };
  const options = bubblewrapArguments(plain, layout, run);
  const files = openTexts(layout.etc, { start: "", options, filter: bubblewrap.filter }, 0);
  const child = Bun.spawn(bubblewrapCommand(plain, run), {
    env: { PATH: trustedPath },
    stdio: ["ignore", "pipe", "pipe", ...files],
  });
  for (const file of files) closeSync(file);
  const [answer, words, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code === 0 && answer.trim() === String(agentUser)) return null;
  return words.trim().slice(-300) || `it ended with ${code}`;
}

function canMountOpened(path: string): boolean {
  const { stdout } = Bun.spawnSync([path, "--help"], { env: { PATH: trustedPath }, stderr: "ignore" });
  return stdout.toString().includes("--ro-bind-fd");
}

async function writeFilter(layout: Layout, countedMemory: boolean): Promise<string | null> {
  const filter = seccompFilter(process.arch, countedMemory);
  if (filter === null) return null;
  const path = join(layout.etc, countedMemory ? "system-calls.bpf" : "system-calls-counted.bpf");
  const written = Bun.file(path);
  const isSame = (await written.exists()) && Buffer.from(await written.bytes()).equals(filter);
  if (!isSame) await writeAtomically(path, filter, 0o600);
  return path;
}

/** Where the service looks for programs of its own; never the environment's PATH, never the agent's. */
export const trustedPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The host's user that owns what belongs to an agent; null when that is the service's own. */
export function agentOwner(bubblewrap: Bubblewrap | null): number | null {
  return bubblewrap?.users === "dropped" ? agentUser : null;
}

/**
 * What is run. The options come by descriptor, because a command line shows in the process lists of the host and, for
 * bubblewrap's own processes, of the instance.
 */
export function bubblewrapCommand(
  { path, users, setpriv }: Pick<Bubblewrap, "path" | "users" | "setpriv">,
  run: Pick<BubblewrapRun, "argv">,
): string[] {
  const drop = [
    ...[setpriv ?? "setpriv", `--reuid=${agentUser}`, `--regid=${agentUser}`, "--clear-groups"],
    ...["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"],
  ];
  return [path, "--args", String(descriptors.options), "--", ...(users === "dropped" ? drop : []), ...run.argv];
}

/** Bubblewrap's options, each followed by NUL. With `mountsOpened` the sources of the mounts come as descriptors. */
export function bubblewrapArguments(bubblewrap: Bubblewrap, layout: Layout, run: BubblewrapRun): string {
  const { memoryBytes, diskBytes } = run.limits;
  const temporary = String(Math.min(memoryBytes, diskBytes, ...(run.readOnlyRoot ? [readOnlyTemporaryBytes] : [])));
  const outside = run.mounts.map(({ target }) => target).filter((path) => !isWithin(path, instancePaths.workspace));
  const args = [
    ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--new-session", "--die-with-parent", "--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"],
    ...(bubblewrap.users === "mapped"
      ? ["--unshare-user", "--uid", String(agentUser), "--gid", String(agentUser)]
      : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]),
    ...(bubblewrap.userNamespacesDisabled ? ["--disable-userns"] : []),
    ...(bubblewrap.filter === null ? [] : ["--seccomp", String(descriptors.filter)]),
    ...["--ro-bind", "/usr", "/usr"],
    ...systemDirectories.flatMap(systemDirectory),
    ...["/etc", "/etc/ssl"].flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...hostEtc.flatMap((path) => ["--ro-bind-try", path, path]),
    ...identityFiles(layout).flatMap(({ path, name }) => ["--ro-bind", path, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...ofTheMachine.filter((path) => existsSync(path)).flatMap(hidden),
    ...hiddenPlaces(bubblewrap.own).flatMap(hidden),
    ...(run.sharedMemory ? ["--perms", "1777", "--size", temporary, "--tmpfs", "/dev/shm"] : []),
    ...["--remount-ro", "/dev"],
    ...["--perms", "1777", "--size", temporary, "--tmpfs", "/tmp"],
    ...["--perms", "0755", "--dir", instancePaths.programs],
    ...(run.gateway === null ? [] : ["--ro-bind", run.gateway, instancePaths.gateway]),
    ...(run.egress === null ? [] : ["--ro-bind", run.egress, instancePaths.egress]),
    // Bubblewrap itself would make directories that only root can enter.
    ...directoriesAbove([...Object.keys(run.files), ...outside]).flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...Object.entries(run.files).flatMap(([path, source]) => ["--ro-bind", source, path]),
    ...run.mounts.flatMap(({ source, target, readOnly }, index) => {
      const bind = readOnly ? "--ro-bind" : "--bind";
      return bubblewrap.mountsOpened
        ? [`${bind}-fd`, String(descriptors.firstSource + index), target]
        : [bind, source, target];
    }),
    ...["--remount-ro", "/", "--chdir", "/"],
  ];
  return args.map((arg) => `${arg}\0`).join("");
}

/** The part of a launch's plan that bubblewrap reads from descriptors. */
export function heldBy(bubblewrap: Bubblewrap, layout: Layout, run: BubblewrapRun) {
  return {
    options: bubblewrapArguments(bubblewrap, layout, run),
    filter: bubblewrap.filter,
    dataDir: layout.dataDir,
    sources: run.mounts.map(({ source }) => resolvedSource(source, layout.dataDir)),
    hostSources: run.mounts.filter(({ isOfHost = false }) => isOfHost).map(({ source }) => source),
    mountsOpened: bubblewrap.mountsOpened,
  };
}

/**
 * The service's own directories and files as far as they lie in what every instance sees of the host: a checkout below
 * `/usr/src`, for instance.
 */
function hiddenPlaces(own: readonly string[]): string[] {
  const shared = ["/usr", ...systemDirectories, ...hostEtc];
  const real = own.flatMap((path) => (lstatSync(path, { throwIfNoEntry: false }) ? [realpathSync(path)] : []));
  return [...new Set(real)].filter((path) =>
    shared.some((directory) => path !== directory && isWithin(path, directory)),
  );
}

const hidden = (path: string): string[] =>
  lstatSync(path).isDirectory()
    ? ["--perms", "0000", "--size", "4096", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];

/** The directories that have to be there, outer ones first. */
function directoriesAbove(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const names = path.split("/").slice(1, -1);
    for (const index of names.keys()) found.add(`/${names.slice(0, index + 1).join("/")}`);
  }
  return [...found];
}

/** Beside `/usr`: links into it, or directories of their own. */
const systemDirectories = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Of the host's configuration only what programs need to run and to check certificates. */
const hostEtc = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates.conf",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/protocols",
  "/etc/services",
  "/etc/python3",
  "/etc/perl",
];

/** What `/proc` tells of the machine as a whole: keys of other users, kernel memory and timers, devices. */
const ofTheMachine = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kallsyms",
  "/proc/kcore",
  "/proc/key-users",
  "/proc/keys",
  "/proc/kmsg",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
];

/** A top directory as the host has it: a link into `/usr`, or a directory of its own. */
function systemDirectory(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

const identityContents: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:${agentUser}:${agentUser}:agent:/workspace:/bin/sh\n`,
  group: `root:x:0:\nagent:x:${agentUser}:\n`,
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
};

function identityFiles(layout: Layout): { name: string; path: string }[] {
  return Object.keys(identityContents).map((name) => ({ name, path: join(layout.etc, name) }));
}

async function writeIdentityFiles(layout: Layout): Promise<void> {
  for (const { name, path } of identityFiles(layout)) {
    if ((await Bun.file(path).exists()) && (await Bun.file(path).text()) === identityContents[name]) continue;
    await writeAtomically(path, identityContents[name] ?? "", 0o644);
  }
}
