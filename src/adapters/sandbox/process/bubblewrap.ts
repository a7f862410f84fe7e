/**
 * Bubblewrap: an instance sees the host's programs read-only, its workspace, a private `/tmp` and nothing
 * else; it has own processes, an own network without any way out, and an unprivileged user.
 *
 * Two ways in. As root, bubblewrap builds the namespaces and the user is dropped inside, so the agent's
 * user is a real unprivileged one. Otherwise a user namespace maps user 1000 to the service's own user.
 * Nothing that an agent controls is in the environment while privileges are still held: the command given
 * here sets its variables itself, as the last step of all.
 */

import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { agentUser } from "../../../lib/agent-files.ts";
import { writeAtomically } from "../../../lib/json-file.ts";
import type { InstanceLimits, InstanceMount } from "../instance.ts";
import { instancePaths, readOnlyTemporaryBytes } from "../instance-environment.ts";
import type { Layout } from "./layout.ts";
import { firstSourceFd } from "./mount-sources.ts";

export type UserMode = "dropped" | "mapped";

export interface Bubblewrap {
  readonly path: string;
  readonly setpriv: string | null;
  readonly users: UserMode;
  /** Whether it can mount what is already open; without, a mount goes by its path. */
  readonly mountsOpened: boolean;
}

export interface BubblewrapRun {
  readonly limits: InstanceLimits;
  /** Shortest targets first. */
  readonly mounts: readonly InstanceMount[];
  /** Leaves `/tmp` small; everything else but the mounts is read-only anyway. */
  readonly readOnlyRoot: boolean;
  /** Whether the gateways' sockets are there. */
  readonly gateway: boolean;
  /** Whether the egress proxies' sockets are there. */
  readonly egress: boolean;
  /** Whether `/dev/shm` can be written to. */
  readonly sharedMemory: boolean;
  /** Read-only files: path inside → path on the host. */
  readonly files: Readonly<Record<string, string>>;
  /** Run inside, as the agent's user and with an empty environment. */
  readonly argv: readonly string[];
}

/** Looks for bubblewrap and really runs it once; null when it cannot hold anything here. */
export async function findBubblewrap(layout: Layout): Promise<Bubblewrap | null> {
  if (process.platform !== "linux") return null;
  const path = Bun.which("bwrap", { PATH: trustedPath });
  const setpriv = Bun.which("setpriv", { PATH: trustedPath });
  if (path === null) return null;
  await writeIdentityFiles(layout);
  const users: UserMode = process.getuid?.() === 0 ? "dropped" : "mapped";
  if (users === "dropped" && setpriv === null) return null;
  const bubblewrap: Bubblewrap = { path, setpriv, users, mountsOpened: canMountOpened(path) };
  const limits: InstanceLimits = { cpuMillicores: 1_000, memoryBytes: 2 ** 26, diskBytes: 2 ** 26, processes: 64 };
  const mounts = [{ source: layout.workspaces, target: instancePaths.workspace, readOnly: false }];
  const run: BubblewrapRun = {
    limits,
    mounts,
    readOnlyRoot: false,
    gateway: true,
    egress: false,
    sharedMemory: true,
    files: {},
    argv: ["/usr/bin/id", "-u"],
  };
  const args = bubblewrapArguments({ ...bubblewrap, mountsOpened: false }, layout, run);
  const child = Bun.spawn([path, ...args], { env: { PATH: trustedPath }, stdio: ["ignore", "pipe", "ignore"] });
  const [answer, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return code === 0 && answer.trim() === String(agentUser) ? bubblewrap : null;
}

function canMountOpened(path: string): boolean {
  const { stdout } = Bun.spawnSync([path, "--help"], { env: { PATH: trustedPath }, stderr: "ignore" });
  return stdout.toString().includes("--ro-bind-fd");
}

/** Where the service looks for programs of its own; never the environment's PATH, never the agent's. */
export const trustedPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The host's user that owns what belongs to an agent; null when that is the service's own. */
export function agentOwner(bubblewrap: Bubblewrap | null): number | null {
  return bubblewrap?.users === "dropped" ? agentUser : null;
}

/** Everything after `bwrap` itself. With `mountsOpened` the sources of the mounts come as descriptors. */
export function bubblewrapArguments(bubblewrap: Bubblewrap, layout: Layout, run: BubblewrapRun): string[] {
  const { memoryBytes, diskBytes } = run.limits;
  const temporary = String(Math.min(memoryBytes, diskBytes, ...(run.readOnlyRoot ? [readOnlyTemporaryBytes] : [])));
  const args = [
    ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--new-session", "--die-with-parent", "--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"],
    ...(bubblewrap.users === "mapped"
      ? ["--unshare-user", "--uid", String(agentUser), "--gid", String(agentUser)]
      : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]),
    ...["--ro-bind", "/usr", "/usr"],
    ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap(systemDirectory),
    ...["/etc", "/etc/ssl"].flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...hostEtc.flatMap((path) => ["--ro-bind-try", path, path]),
    ...identityFiles(layout).flatMap(({ path, name }) => ["--ro-bind", path, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(run.sharedMemory ? ["--perms", "1777", "--size", temporary, "--tmpfs", "/dev/shm"] : []),
    ...["--remount-ro", "/dev"],
    ...["--perms", "1777", "--size", temporary, "--tmpfs", "/tmp"],
    ...["--perms", "0755", "--dir", instancePaths.programs],
    ...(run.gateway ? ["--ro-bind", layout.gateway, instancePaths.gateway] : []),
    ...(run.egress ? ["--ro-bind", layout.egress, instancePaths.egress] : []),
    // Bubblewrap itself would make directories that only root can enter.
    ...directoriesAbove(Object.keys(run.files)).flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...Object.entries(run.files).flatMap(([path, source]) => ["--ro-bind", source, path]),
    ...run.mounts.flatMap(({ source, target, readOnly }, index) => {
      const bind = readOnly ? "--ro-bind" : "--bind";
      return bubblewrap.mountsOpened ? [`${bind}-fd`, String(firstSourceFd + index), target] : [bind, source, target];
    }),
    ...["--remount-ro", "/", "--chdir", "/"],
    "--",
  ];
  if (bubblewrap.users === "dropped") {
    args.push(bubblewrap.setpriv ?? "setpriv", `--reuid=${agentUser}`, `--regid=${agentUser}`, "--clear-groups");
    args.push("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--");
  }
  return [...args, ...run.argv];
}

/** The directories that have to be there, outer ones first. */
function directoriesAbove(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const names = path.split("/").slice(1, -1);
    for (const index of names.keys()) found.add(`/${names.slice(0, index + 1).join("/")}`);
  }
  return [...found];
}

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
