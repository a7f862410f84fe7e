/**
 * Real containers for tests: a Podman of the tests' own, with its own store, socket and configuration, and a small
 * image. Where Podman is missing it is installed, if that is possible; where containers cannot run the tests that
 * need them are skipped, loudly.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Engine } from "../../../src/adapters/sandbox/docker/engine.ts";
import { interpreterOf } from "../../../src/adapters/sandbox/docker/runtime-files.ts";
import { identify, isAlive, type ProcessIdentity } from "../../../src/lib/processes/process-table.ts";
import { onLeave } from "../at-exit.ts";
import { systemTemporary } from "../scratch.ts";
import { until } from "../until.ts";
import { type Registry, serveImage } from "./registry.ts";

const packages = ["podman", "runc", "netavark", "aardvark-dns", "iptables", "busybox-static"];
const programs = ["podman", "runc", "conmon", "busybox", "mkfifo", "tar"];
const prefix = "svc-podman-";
/** A service that nobody asks for this long ends, should its test process have been killed. */
const idleSeconds = 180;
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface Podman {
  readonly socket: string;
  /** Busybox and nothing else: neither a C library nor a loader. */
  readonly bare: string;
  /** Busybox with the C library of this host, and environment and a volume of its own. */
  readonly equipped: string;
  /** Ends the service, without its containers. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /**
   * Serves the bare image as `<address>/svc/bare:1` and knows no other.
   * @param login `name:password`: it is asked for, and the image is one that this host has not
   */
  registry(login?: string): Promise<Registry>;
  /** `podman run` without a network, to its end. @param args options, image and command */
  run(args: readonly string[]): Promise<{ readonly out: string; readonly err: string; readonly code: number }>;
}

let one: Promise<Podman | null> | undefined;

/** The one Podman of this test process; null where containers cannot be had. */
export function podman(): Promise<Podman | null> {
  one ??= open().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`\n!!! containers do not work here (${reason}): CONTAINERS ARE NOT TESTED on this machine !!!\n`);
    return null;
  });
  return one;
}

async function open(): Promise<Podman> {
  if (process.platform !== "linux") throw new Error("not Linux");
  if (process.getuid?.() !== 0) throw new Error("not root");
  const missing = () => programs.filter((name) => Bun.which(name, { PATH: searchPath }) === null);
  if (missing().length > 0) install();
  if (missing().length > 0) throw new Error(`missing: ${missing().join(", ")}`);

  // Not among the other directories of tests: the store has mounts of its own in it.
  removeAbandoned();
  const root = mkdtempSync(join(systemTemporary(), prefix));
  writeFileSync(join(root, "owner"), JSON.stringify(identify(process.pid)));
  const env = configure(root);
  const socket = join(root, "podman.sock");
  const images = { bare: "localhost/svc-test/bare:1", equipped: "localhost/svc-test/equipped:1" };
  importImage(root, env, images.bare, { files: {}, changes: [] });
  importImage(root, env, images.equipped, {
    files: hostLibraries(),
    changes: ["ENV FLAVOUR=equipped", "ENV PATH=/opt/tools:/usr/bin:/bin", "VOLUME /scratch"],
  });

  let service: Bun.Subprocess | null = null;
  const engine = new Engine(socket);
  const start = async () => {
    service = Bun.spawn(["podman", "system", "service", `--time=${idleSeconds}`, `unix://${socket}`], {
      env,
      // A container's monitor leaves a file where it stands when memory runs out.
      cwd: root,
      stdio: ["ignore", "ignore", Bun.file(join(root, "service.log"))],
    });
    await until(() => engine.answers(), { what: "podman's socket" });
  };
  const stop = async () => {
    service?.kill("SIGKILL");
    await service?.exited;
  };
  const registry = async (login?: string) => {
    const folder = join(root, "registry");
    if (!existsSync(folder)) {
      const pushed = Bun.spawnSync(["podman", "push", "-q", images.bare, `dir:${folder}`], { env });
      if (pushed.exitCode !== 0) throw new Error(pushed.stderr.toString());
    }
    return serveImage(folder, login ?? null);
  };
  onLeave(async () => {
    await stop();
    takeDown(root);
    one = undefined;
  });
  await start();
  const tried = Bun.spawnSync(["podman", "run", "--rm", "--network", "none", images.bare, "/bin/true"], { env });
  if (tried.exitCode !== 0) throw new Error(tried.stderr.toString().trim().slice(0, 300));
  const run = async (args: readonly string[]) => {
    const child = Bun.spawn(["podman", "run", "--rm", "--network", "none", ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { out, err, code: await child.exited };
  };
  return { socket, ...images, stop, start, registry, run };
}

/** Ends everything that runs of a store, and removes it. */
function takeDown(root: string): void {
  const quiet = { env: environmentOf(root), stdout: "ignore", stderr: "ignore" } as const;
  Bun.spawnSync(["podman", "rm", "-fa", "-t", "0"], quiet);
  // Else the store's own mount would keep the directory from being removed.
  for (const path of ["root/overlay", "root"]) Bun.spawnSync(["umount", "-l", join(root, path)], quiet);
  Bun.spawnSync(["rm", "-rf", "--", root], quiet);
}

/** What test processes left that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(systemTemporary()).filter((entry) => entry.startsWith(prefix))) {
    const root = join(systemTemporary(), name);
    try {
      const owner: ProcessIdentity = JSON.parse(readFileSync(join(root, "owner"), "utf8"));
      if (!isAlive(owner)) takeDown(root);
    } catch {
      // Just being made, or just being removed.
    }
  }
}

function install(): void {
  if (Bun.which("apt-get") === null) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...packages]]) {
    Bun.spawnSync(["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=180", ...args], {
      env,
      stdio: ["ignore", "ignore", "ignore"],
    });
  }
}

/** Makes podman use nothing but this directory. */
function environmentOf(root: string): Record<string, string> {
  return {
    PATH: searchPath,
    HOME: root,
    TMPDIR: root,
    CONTAINERS_CONF: join(root, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(root, "storage.conf"),
    CONTAINERS_REGISTRIES_CONF: join(root, "registries.conf"),
  };
}

function configure(root: string): Record<string, string> {
  const hard = (name: string, wanted: number) => {
    const { stdout } = Bun.spawnSync(["/bin/sh", "-c", `ulimit -H ${name}`]);
    const limit = Number.parseInt(stdout.toString(), 10);
    return Number.isFinite(limit) ? Math.min(limit, wanted) : wanted;
  };
  const [files, processes] = [hard("-n", 4_096), hard("-p", 4_096)];
  const texts = {
    "containers.conf": `[containers]
default_ulimits = ["nofile=${files}:${files}", "nproc=${processes}:${processes}"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
events_logger = "file"
cgroup_manager = "cgroupfs"
tmp_dir = "${join(root, "tmp")}"
`,
    "storage.conf": `[storage]\ndriver = "overlay"\ngraphroot = "${join(root, "root")}"\nrunroot = "${join(root, "run")}"\n`,
    "registries.conf": 'unqualified-search-registries = []\n[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n',
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(root, name), text);
  return environmentOf(root);
}

interface Content {
  /** Path in the image → path on this host. */
  readonly files: Readonly<Record<string, string>>;
  readonly changes: readonly string[];
}

function importImage(root: string, env: Record<string, string>, name: string, { files, changes }: Content): void {
  const tree = join(root, "image");
  for (const path of ["bin", "etc", "tmp", "usr/bin", "opt/tools", "var", "open"])
    mkdirSync(join(tree, path), { recursive: true });
  for (const path of ["tmp", "open"]) chmodSync(join(tree, path), 0o1777);
  const busybox = Bun.which("busybox", { PATH: searchPath }) ?? "";
  if (!existsSync(join(tree, "bin/busybox"))) {
    copyFileSync(busybox, join(tree, "bin/busybox"));
    const { stdout } = Bun.spawnSync([busybox, "--list"]);
    const names = stdout
      .toString()
      .split("\n")
      .filter((applet) => applet !== "" && applet !== "busybox");
    for (const applet of names) symlinkSync("busybox", join(tree, "bin", applet));
  }
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(join(tree, path, ".."), { recursive: true });
    copyFileSync(source, join(tree, path));
    chmodSync(join(tree, path), 0o755);
  }
  const options = changes.flatMap((change) => ["--change", change]);
  const line = 'tar -C "$1" -c . | { shift; podman import -q "$@"; }';
  const made = Bun.spawnSync(["bash", "-o", "pipefail", "-c", line, "import", tree, ...options, "-", name], { env });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString().trim().slice(0, 300));
}

/** A dynamic program of this host, with what it needs. */
function hostLibraries(): Record<string, string> {
  const program = Bun.which("env", { PATH: "/usr/bin:/bin" }) ?? "/usr/bin/env";
  const loader = interpreterOf(program);
  if (loader === null) return {};
  const { stdout } = Bun.spawnSync([loader, "--list", program], { env: {} });
  const libraries = stdout.toString().matchAll(/=> (\/\S+) \(/g);
  return Object.fromEntries(
    [["/opt/tools/host-env", program], [loader, loader], ...[...libraries].map(([, path = ""]) => [path, path])].filter(
      ([path]) => path !== "",
    ),
  );
}
