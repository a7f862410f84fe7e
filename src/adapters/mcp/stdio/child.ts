/** A tool server as a program: launched in a sandbox of this node, its streams by sockets that only it is given. */
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { isAbsolute } from "node:path/posix";
import { removeDirectory } from "../../../lib/files/remove-directory.ts";
import { listenToAgents } from "../../../lib/sockets/unix-sockets.ts";
import { withTimeout } from "../../../lib/timers.ts";
import { socketNames } from "../../../programs/init/streams.ts";
import { type InstanceEgress, LaunchFailure, type Sandbox } from "../../sandbox/port.ts";
import { logBudget } from "../budget.ts";
import { LineReader } from "./line-reader.ts";
import { LineTransport } from "./line-transport.ts";

export interface ChildOptions {
  readonly sandbox: Sandbox;
  /** Absolute. */
  readonly dataDir: string;
  /** Directories of the host that every such program sees. */
  readonly shown: readonly string[];
}

export interface ChildSpec {
  readonly instanceId: string;
  /** The id under which the sandbox's host keeps it. */
  readonly serverId: string;
  readonly tenant: string;
  /** A name that PATH finds, or an absolute path. */
  readonly executable: string;
  readonly args: readonly string[];
  /** Beside what every such program gets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly egress: InstanceEgress | null;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** Told of each line of standard error, without its end, and of what else is to be read. */
  readonly log: (line: string) => void;
}

export interface Child {
  readonly transport: LineTransport;
  /** The host's id of the program; null when it cannot be told. */
  pid(): Promise<number | null>;
  /** Resolves once nothing of it is left, with why it ended, in words. */
  readonly ended: Promise<string>;
  /** Ends the whole process tree. Repeatable. */
  stop(graceMs: number): Promise<void>;
}

/** Private and temporary: memory that goes with the sandbox. */
const home = "/tmp";
const MiB = 2 ** 20;
/** Of its private directory, and of any file that it writes. */
const diskBytes = 256 * MiB;
const processes = 256;
const maxLogLineBytes = 8 * 1_024;
const nowhere = { stdout: Number.MAX_SAFE_INTEGER, stderr: Number.MAX_SAFE_INTEGER };

/** What a program of the 2025 clients of this protocol may count on, and nothing of the service's own environment. */
const usualEnvironment = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: home,
  LANG: "C.UTF-8",
  LOGNAME: "agent",
  USER: "agent",
  SHELL: "/bin/sh",
  TERM: "dumb",
} as const;

export const childFolder = (dataDir: string): string => join(dataDir, "tool-servers");

/**
 * @param withinMs to begin
 * @throws LaunchFailure, or what the sandbox throws; nothing is left of it then
 */
export async function launchChild(options: ChildOptions, spec: ChildSpec, withinMs: number): Promise<Child> {
  const { sandbox, dataDir } = options;
  const directory = join(childFolder(dataDir), spec.instanceId);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const io = firstAt(join(directory, socketNames.io));
  const log = firstAt(join(directory, socketNames.log));
  const following = new AbortController();

  const terminations: Promise<void>[] = [];
  function terminate(graceMs: number): Promise<void> {
    const done = sandbox.terminate(spec.instanceId, graceMs);
    terminations.push(done.catch(() => {}));
    return done;
  }

  async function clean(): Promise<void> {
    io.close();
    log.close();
    // Each leaves the end on file; none may do so behind the removal.
    await Promise.all(terminations);
    await sandbox.remove(spec.instanceId).catch(() => {});
    await removeDirectory(directory);
  }

  try {
    await Promise.all([io.ready, log.ready]);
    await sandbox.launch(instanceOf(options, spec, directory), () => {});
    const exit = sandbox.follow(spec.instanceId, { signal: following.signal, from: nowhere, onOutput() {} });
    const early = exit.then(({ stderr, reason }) => {
      throw new LaunchFailure("runtime_error", `It could not begin (${reason}): ${stderr.trim().slice(-300)}`);
    });
    const sockets = await withTimeout(
      Promise.race([Promise.all([io.socket, log.socket]), early]),
      withinMs,
      () => new LaunchFailure("runtime_error", `It did not begin within ${withinMs / 1_000} s`),
    );
    early.catch(() => {});
    const within = followLog(sockets[1], spec.log);
    const transport = new LineTransport(sockets[0], once(spec.log));
    sockets[0].once("close", () => void terminate(0).catch(() => {}));
    return {
      transport,
      async pid() {
        const id = await within;
        return id === null ? null : ((await sandbox.hostProcess?.(spec.instanceId, id)) ?? null);
      },
      ended: exit
        .then(
          ({ reason, exitCode }) => wordsOf(reason, exitCode),
          () => "it was lost",
        )
        .then(async (words) => {
          await clean();
          return words;
        }),
      stop: terminate,
    };
  } catch (error) {
    following.abort();
    await terminate(0).catch(() => {});
    await clean();
    throw error;
  }
}

/** Takes away the sockets' directories of a node that was killed. @param wanted of those whose programs may run still */
export async function removeChildFolders(dataDir: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(childFolder(dataDir), name), { recursive: true, force: true });
}

function instanceOf({ shown }: ChildOptions, spec: ChildSpec, directory: string) {
  const { instanceId, serverId, tenant, executable, args, environment, egress, cpuMillicores, memoryBytes } = spec;
  const own = isAbsolute(executable) && !shown.some((each) => executable.startsWith(`${each}/`)) ? [executable] : [];
  return {
    instanceId,
    executionId: serverId,
    tenant,
    environment: { ...usualEnvironment, ...environment },
    prompt: "",
    limits: { cpuMillicores, memoryBytes, diskBytes, processes },
    image: null,
    mounts: [],
    readOnlyRoot: false,
    egress,
    startupScript: null,
    command: {
      argv: [executable, ...args],
      workdir: home,
      user: null,
      streams: { directory, shown: [...shown, ...own] },
    },
    bootstrapPath: null,
    pool: null,
  };
}

/** Listens for one connection and takes no other. */
function firstAt(path: string) {
  let taken = false;
  let arrived: (socket: Socket) => void;
  const socket = new Promise<Socket>((resolve) => {
    arrived = resolve;
  });
  const listening = listenToAgents(path, (client) => {
    if (taken) return void client.destroy();
    taken = true;
    client.on("error", () => {});
    arrived(client);
    listening.close();
  });
  return { ready: listening.ready, socket, close: () => listening.close() };
}

/** @returns the program's id within, once it says so; null when it could not be started */
function followLog(socket: Socket, log: (line: string) => void): Promise<number | null> {
  return new Promise((resolve) => {
    let isFirst = true;
    const reader = new LineReader(maxLogLineBytes, {
      line(text) {
        const id = isFirst ? /^pid (\d{1,9})$/.exec(text)?.[1] : undefined;
        isFirst = false;
        if (id === undefined) return log(text);
        resolve(id === "0" ? null : Number(id));
      },
      tooLong: ({ head, bytes }) => log(`${Buffer.from(head, "latin1").toString("utf8")}… (${bytes} bytes)`),
      dropped() {},
    });
    const budget = logBudget();
    socket.on("data", (chunk: Buffer) => {
      reader.read(chunk);
      // The program waits at its full pipe.
      if (budget.take(chunk.length)) return;
      socket.pause();
      setTimeout(() => socket.resume(), 1_000).unref();
    });
    socket.once("close", () => {
      reader.read(Buffer.from("\n"));
      resolve(null);
    });
  });
}

/** Says the same thing once. */
function once(log: (line: string) => void): (what: string) => void {
  const said = new Set<string>();
  return (what) => {
    if (said.has(what)) return;
    said.add(what);
    log(`[svc] ${what}`);
  };
}

function wordsOf(reason: string, exitCode: number | null): string {
  if (reason === "exited") return `it ended with exit code ${exitCode ?? "unknown"}`;
  if (reason === "out_of_memory") return "it used more memory than its limit";
  if (reason === "disk_exceeded") return "it wrote more than its limit";
  return reason === "terminated" ? "it was ended" : "it was lost";
}
