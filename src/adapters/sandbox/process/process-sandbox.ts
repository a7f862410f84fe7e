/**
 * The process adapter of the sandbox port: instances are processes of this host, inside bubblewrap where it
 * works. Keeps nothing in memory: what it knows of an instance it reads from the instance's directory.
 */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, realpath, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readJson, writeAtomically } from "../../../lib/files/json-file.ts";
import { hostProcess, isAlive } from "../../../lib/processes/process-table.ts";
import { makeSocketFolder } from "../../../lib/sockets/tenant-sockets.ts";
import { StartFailure } from "../../../lib/start-failure.ts";
import { bundleBootstrap, bundleProgram } from "../../../programs/bundle.ts";
import type { ExecResult, InsideCommand } from "../inside.ts";
import {
  type InstanceExit,
  type InstanceSpec,
  lostExit,
  type PauseAnswer,
  type Sandbox,
  type SandboxDescription,
} from "../instance.ts";
import { prepareMountPoints } from "../mount-points.ts";
import { Stillness } from "../stillness.ts";
import {
  agentOwner,
  type Bubblewrap,
  findBubblewrap,
  missingProtections,
  trustedPath,
} from "./bubblewrap/bubblewrap.ts";
import { type HostProgramRules, hostProgram } from "./bubblewrap/host-program.ts";
import { type CgroupParents, findCgroups } from "./cgroup.ts";
import { killProcesses, removeGroups } from "./cleanup/cleanup.ts";
import { forgetRemoved, leaveMark } from "./cleanup/removal.ts";
import { terminateInstance } from "./cleanup/terminate.ts";
import { followFiles, readExit } from "./follow.ts";
import { freezerOf } from "./freezing.ts";
import { runInside } from "./hand.ts";
import { planLaunch } from "./launch/launch.ts";
import type { ProgramFiles } from "./layout.ts";
import { type LaunchPlan, Layout, prepareLayout, type SupervisorRecord, takeClaim } from "./layout.ts";

/** An instance whose supervisor has not shown itself by then never starts. */
const startWithinMs = 10_000;
/** How long processes may take to stand still, ms. */
const frozenWithinMs = 5_000;

export interface ProcessSandboxOptions {
  readonly dataDir: string;
  /** False keeps bubblewrap out of it even where it works. */
  readonly bubblewrap: boolean;
  /** Whether agents may run without bubblewrap. */
  readonly allowUnsandboxed: boolean;
  /** Whether programs of the host may take the bootstrap's place: development only. */
  readonly hostPrograms: boolean;
  /** Files and directories of the service beside its data directory that no agent may see, absolute. */
  readonly own?: readonly string[];
  /** Replaces the bootstrap; the prompt follows as the last argument. */
  readonly program?: readonly string[] | undefined;
  /** False keeps control groups out of it even where they can be written. */
  readonly cgroups?: boolean;
  readonly warn: (message: string) => void;
}

/** Agents cannot be held here, and running them unheld is not allowed. */
export class SandboxUnavailable extends StartFailure {}

/**
 * Looks once at what this host can do, and builds the programs that instances run.
 * @throws SandboxUnavailable when bubblewrap does not work and `allowUnsandboxed` is false
 */
export async function createProcessSandbox(options: ProcessSandboxOptions): Promise<Sandbox> {
  const layout = new Layout(resolve(options.dataDir));
  prepareLayout(layout);
  await removeOldDrafts(layout);
  const [supervisor, bootstrap, init, hand] = await Promise.all([
    bundleProgram(layout.dataDir, "supervisor"),
    bundleBootstrap(layout.dataDir),
    bundleProgram(layout.dataDir, "init"),
    bundleProgram(layout.dataDir, "hand"),
  ]);
  const { own = [] } = options;
  const cgroups = options.cgroups === false ? null : findCgroups();
  const countedMemory = cgroups?.directories.memory !== undefined;
  let reason = "it is missing";
  const failed = (words: string) => {
    reason = words;
  };
  const bubblewrap = options.bubblewrap ? await findBubblewrap(layout, own, countedMemory, failed) : null;
  if (bubblewrap === null) {
    if (!options.allowUnsandboxed) {
      throw new SandboxUnavailable(
        `Nothing here can hold agents: bubblewrap (bwrap) cannot run (${reason}), and no container engine answers. Install bubblewrap, give this container what docker-compose.yml gives it, set SVC_DOCKER_SOCKET, or set SVC_SANDBOX=none to run agents without a sandbox.`,
      );
    }
    const cause = options.bubblewrap ? "bubblewrap (bwrap) is missing or cannot run." : "SVC_SANDBOX is `none`.";
    options.warn(`agents run WITHOUT a sandbox: they can read and change what this user can. ${cause}`);
  }
  const programs: ProgramFiles = {
    bun: await runtimeWithin(dirname(init)),
    bootstrap,
    init,
    hand,
    ...(options.program ? { program: options.program } : {}),
  };
  const rules: HostProgramRules = { allowed: options.hostPrograms, own: [layout.dataDir, ...own] };
  return new ProcessSandbox(layout, supervisor, programs, bubblewrap, cgroups, rules, options.warn);
}

/**
 * The runtime under a second name among the programs: a mount inside shows where its source lies, and where the service
 * was installed is nothing to agents. On another file system it stays where it is.
 */
async function runtimeWithin(programs: string): Promise<string> {
  const source = await realpath(process.execPath);
  const { dev, ino } = await stat(source);
  const name = join(programs, `bun-${dev}-${ino}`);
  if (existsSync(name)) return name;
  return link(source, name).then(
    () => name,
    () => (existsSync(name) ? name : source),
  );
}

/** Drafts of launches that were cut off; a live one is put in place within moments. */
async function removeOldDrafts(layout: Layout): Promise<void> {
  for (const name of await readdir(layout.instances)) {
    const path = join(layout.instances, name);
    const made = name.startsWith(".draft-") ? await stat(path).catch(() => null) : null;
    if (made !== null && Date.now() - made.mtimeMs > 60_000) await rm(path, { recursive: true, force: true });
  }
}

class ProcessSandbox implements Sandbox {
  constructor(
    readonly layout: Layout,
    readonly supervisor: string,
    readonly programs: ProgramFiles,
    readonly bubblewrap: Bubblewrap | null,
    readonly cgroups: CgroupParents | null,
    readonly rules: HostProgramRules,
    readonly warn: (message: string) => void,
  ) {}

  describe(): SandboxDescription {
    const controlled = this.cgroups?.directories ?? {};
    return {
      isolation: "process",
      sandbox: this.bubblewrap === null ? "none" : "bubblewrap",
      egressEnforced: this.bubblewrap !== null,
      unenforcedLimits: [
        ...(controlled.cpu === undefined ? ["cpu"] : []),
        ...(controlled.pids === undefined ? ["processes"] : []),
        ...(controlled.memory === undefined ? [this.#uncountedMemory()] : []),
        ...(this.bubblewrap === null ? [] : missingProtections(this.bubblewrap)),
      ],
    };
  }

  /**
   * Where the supervisor counts instead of the kernel: what pipes and sockets keep is not seen from outside; without the
   * filter of system calls there is more.
   */
  #uncountedMemory(): string {
    const { filter = null } = this.bubblewrap ?? {};
    return filter === null ? "memory" : "kernel_memory";
  }

  programFault(path: string): string | null {
    const found = hostProgram(path, this.rules);
    return found.kind === "refused" ? found.reason : null;
  }

  async launch(spec: InstanceSpec): Promise<void> {
    const directory = this.layout.instance(spec.instanceId);
    if (!existsSync(directory)) await this.#prepare(spec, directory);
    if (existsSync(join(directory, "claim"))) return;
    // The node that prepared it may have died long ago: the time to start counts from now on.
    const now = new Date();
    await utimes(join(directory, "launch.json"), now, now);
    // The supervisor that takes the claim first runs; another one for the same instance exits at once.
    const child = Bun.spawn([process.execPath, "--no-env-file", this.supervisor, directory], {
      cwd: "/",
      env: { PATH: trustedPath },
      stdio: ["ignore", "ignore", Bun.file(join(directory, "supervisor.log"))],
      detached: true,
    });
    child.unref();
  }

  /** Writes everything the instance needs, then puts it in place at once. */
  async #prepare(spec: InstanceSpec, directory: string): Promise<void> {
    const { plan, files, leftOut } = planLaunch(
      spec,
      this.layout,
      this.programs,
      this.bubblewrap,
      this.cgroups,
      this.rules,
    );
    // A program whose streams are a node's has nothing of the host to write to.
    if (spec.command?.streams === undefined) prepareMountPoints(spec.mounts, agentOwner(this.bubblewrap));
    makeSocketFolder(this.layout.gateway, spec.tenant);
    makeSocketFolder(this.layout.egress, spec.tenant);
    const draft = join(this.layout.instances, `.draft-${crypto.randomUUID()}`);
    await mkdir(draft, { mode: 0o700 });
    if (leftOut.length > 0)
      this.warn(`instance ${spec.instanceId}: variables left out, unusable or too long: ${leftOut.join(", ")}`);
    try {
      for (const [name, text] of Object.entries(files)) await writeAtomically(join(draft, name), text, 0o644);
      await writeAtomically(join(draft, "launch.json"), JSON.stringify(plan));
      await rename(draft, directory);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (!existsSync(directory)) throw error;
    }
  }

  async inspect(instanceId: string): Promise<"running" | "exited" | "gone"> {
    const directory = this.layout.instance(instanceId);
    if (!existsSync(directory)) return "gone";
    if ((await readExit(directory)) !== null) return "exited";
    if (await this.#alive(directory)) return "running";
    return (await readExit(directory)) === null ? "gone" : "exited";
  }

  async follow(instanceId: string, options: Parameters<Sandbox["follow"]>[1]): Promise<InstanceExit> {
    const directory = this.layout.instance(instanceId);
    options.signal.throwIfAborted();
    if (!existsSync(directory)) return lostExit;
    return followFiles(directory, options, () => this.#alive(directory));
  }

  /**
   * False once the instance can never report an exit any more; then nothing of it is left running either,
   * so that its iteration may safely begin anew.
   */
  async #alive(directory: string): Promise<boolean> {
    const supervisor = await readJson<SupervisorRecord>(join(directory, "supervisor.json"));
    if (supervisor !== null) {
      if (isAlive(supervisor)) return true;
      if ((await readExit(directory)) === null) await this.#clean(directory, supervisor);
      return false;
    }
    const launched = await stat(join(directory, "launch.json")).catch(() => null);
    if (launched === null) return false;
    if (Date.now() - launched.mtimeMs < startWithinMs) return true;
    try {
      takeClaim(directory);
      return false;
    } catch {
      // Undecided as long as the disk is full.
      return true;
    }
  }

  async #clean(directory: string, supervisor: SupervisorRecord): Promise<void> {
    const plan = await readJson<LaunchPlan>(join(directory, "launch.json"));
    await killProcesses({ root: null, cgroups: supervisor.cgroups, mark: plan?.mark ?? null });
    await removeGroups(supervisor.cgroups);
  }

  async pause(instanceId: string): Promise<PauseAnswer> {
    const directory = this.layout.instance(instanceId);
    const supervisor = await readJson<SupervisorRecord>(join(directory, "supervisor.json"));
    const isOver = async () => existsSync(join(directory, "end.json")) || (await readExit(directory)) !== null;
    if (supervisor === null || !isAlive(supervisor) || (await isOver())) return "gone";
    const stillness = new Stillness(directory, freezerOf(supervisor.cgroups));
    if (!(await stillness.pause(frozenWithinMs))) return isAlive(supervisor) ? "unsupported" : "gone";
    // Asked to end meanwhile: what stands still could not.
    if (!(await isOver())) return "paused";
    await stillness.resume();
    return "gone";
  }

  async resume(instanceId: string): Promise<void> {
    const directory = this.layout.instance(instanceId);
    const supervisor = await readJson<SupervisorRecord>(join(directory, "supervisor.json"));
    if (supervisor !== null) await new Stillness(directory, freezerOf(supervisor.cgroups)).resume();
  }

  async hold<T>(instanceId: string, work: () => Promise<T>): Promise<T> {
    const directory = this.layout.instance(instanceId);
    const supervisor = await readJson<SupervisorRecord>(join(directory, "supervisor.json"));
    return new Stillness(directory, freezerOf(supervisor?.cgroups ?? [])).hold(work);
  }

  async exec(instanceId: string, command: InsideCommand, signal: AbortSignal): Promise<ExecResult | null> {
    const directory = this.layout.instance(instanceId);
    const [supervisor, plan] = await Promise.all([
      readJson<SupervisorRecord>(join(directory, "supervisor.json")),
      readJson<LaunchPlan>(join(directory, "launch.json")),
    ]);
    if (supervisor === null || plan === null || !isAlive(supervisor) || (await readExit(directory)) !== null)
      return null;
    const { layout, programs, bubblewrap } = this;
    return runInside({ directory, plan, supervisor, layout, programs, bubblewrap }, command, signal);
  }

  async terminate(instanceId: string, graceMs: number): Promise<void> {
    const directory = this.layout.instance(instanceId);
    if (existsSync(join(directory, "launch.json"))) await terminateInstance(directory, graceMs);
  }

  async remove(instanceId: string): Promise<void> {
    await this.terminate(instanceId, 0);
    await leaveMark(this.layout.instance(instanceId));
  }

  async hostProcess(instanceId: string, within: number): Promise<number | null> {
    const supervisor = await readJson<SupervisorRecord>(join(this.layout.instance(instanceId), "supervisor.json"));
    return supervisor === null || !isAlive(supervisor) ? null : hostProcess(supervisor.pid, within);
  }

  async list(): Promise<readonly { readonly instanceId: string; readonly executionId: string }[]> {
    const names = await readdir(this.layout.instances).catch(() => []);
    const found = [];
    for (const name of names) {
      const plan = await readJson<LaunchPlan>(join(this.layout.instances, name, "launch.json"));
      if (plan !== null && plan.instanceId === name) found.push({ instanceId: name, executionId: plan.executionId });
      else if (plan === null) await forgetRemoved(join(this.layout.instances, name));
    }
    return found;
  }
}
