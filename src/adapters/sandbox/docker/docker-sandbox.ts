/**
 * The docker adapter of the sandbox port: instances are containers of an engine on this host, Docker or Podman.
 * What it knows of an instance it reads from the instance's directory and from the engine, so that any node on the
 * same data directory can go on with it; only the containers kept ready are this process's own.
 *
 * The data directory must have the same path for the engine as for the service: a service that itself runs in a
 * container mounts it at the host's path.
 */

import { chmodSync, existsSync, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { agentUser, safeId } from "../../../lib/files/agent-files.ts";
import { readJson, writeAtomically } from "../../../lib/files/json-file.ts";
import { checkCommand, commandEnvironment, measuredDirectory } from "../command.ts";
import type { ExecResult, InsideCommand } from "../inside.ts";
import {
  EngineError,
  type FollowOptions,
  type InstanceExit,
  type InstanceSpec,
  LaunchFailure,
  type LaunchNews,
  type PauseAnswer,
  type Sandbox,
  type SandboxDescription,
} from "../instance.ts";
import { isOfOneRun, prepareMountPoints } from "../mount-points.ts";
import { Stillness } from "../stillness.ts";
import { deliverAssignment, isAwaiting, settleDelivery, untilUnclaimed, withClaim } from "./assignment-delivery.ts";
import { planAssignment } from "./assignment-plan.ts";
import { labels } from "./container-options.ts";
import { Containers, makeDirectory } from "./containers.ts";
import { Engine } from "./engine.ts";
import { followContainer, KeeperWatch } from "./follow.ts";
import { containerFreezer } from "./freezing.ts";
import { runInContainer } from "./hand.ts";
import { Images } from "./images/images.ts";
import { PrivateImages } from "./images/private-images.ts";
import { ContainerPaths, isAssigned, type LaunchRecord, readVerdict, writeVerdict } from "./paths.ts";
import { type ContainerPrograms, gatherPrograms } from "./programs.ts";
import { settleWorkspace, WarmPool } from "./warm-pool.ts";

const killedWithinMs = 15_000;
const noticedWithinMs = 500;
const pollMs = 10;

export interface DockerSandboxOptions {
  /** SVC_DOCKER_SOCKET */
  readonly socket: string;
  readonly dataDir: string;
  /** SVC_WARM_POOL_CAP: containers kept ready on this node at most. */
  readonly warmPoolCap: number;
  /** Replaces the bootstrap; the prompt follows as the last argument. */
  readonly program?: readonly string[] | undefined;
  /** A container kept ready for longer goes; default 30 min. */
  readonly warmIdleMs?: number;
  /** Whether images may be pulled from a registry, `host` or `host:port`. */
  readonly mayReach: (registry: string) => Promise<boolean>;
  readonly warn: (message: string) => void;
}

/** Looks once at what the engine can do. @returns null when none answers at the socket */
export async function createDockerSandbox(options: DockerSandboxOptions): Promise<DockerSandbox | null> {
  const engine = new Engine(options.socket);
  if (!(await engine.answers())) return null;
  const paths = new ContainerPaths(resolve(options.dataDir));
  const [info, programs] = await Promise.all([engine.info(), gatherPrograms(paths)]);
  const { MemoryLimit, CpuCfsQuota, PidsLimit } = info;
  const unenforced = [
    ...(CpuCfsQuota ? [] : ["cpu"]),
    ...(MemoryLimit ? [] : ["memory"]),
    ...(PidsLimit ? [] : ["processes"]),
  ];
  const sandbox = new DockerSandbox(engine, paths, programs, unenforced, options);
  // Of containers kept ready by processes that are dead; done again with every listing.
  await Promise.all([sandbox.warm.sweep(), sandbox.privates.sweep()]).catch((error: unknown) =>
    options.warn(`container sweep: ${error instanceof EngineError ? error.detail : String(error)}`),
  );
  return sandbox;
}

export class DockerSandbox implements Sandbox {
  readonly #containers: Containers;
  readonly #images: Images;
  readonly privates: PrivateImages;
  readonly warm: WarmPool;

  constructor(
    readonly engine: Engine,
    readonly paths: ContainerPaths,
    readonly programs: ContainerPrograms,
    readonly unenforcedLimits: readonly string[],
    readonly options: DockerSandboxOptions,
  ) {
    this.#containers = new Containers(engine, paths, programs);
    this.privates = new PrivateImages(engine, paths.dataDir);
    this.#images = new Images(engine, this.privates, options.mayReach);
    this.warm = new WarmPool(this.#containers, {
      cap: options.warmPoolCap,
      warn: options.warn,
      ...(options.warmIdleMs === undefined ? {} : { idleMs: options.warmIdleMs }),
    });
  }

  describe(): SandboxDescription {
    return {
      isolation: "docker",
      sandbox: "container",
      egressEnforced: true,
      unenforcedLimits: this.unenforcedLimits,
    };
  }

  /** @throws EngineError when the engine does not answer: repeating may help */
  async launch(spec: InstanceSpec, report: (news: LaunchNews) => void): Promise<void> {
    const directory = this.paths.instance(spec.instanceId);
    safeId(spec.executionId);
    if (isAssigned(directory)) return;
    if (spec.command !== null) checkCommand(spec.command, commandEnvironment(spec));
    if (spec.image === null) throw new LaunchFailure("runtime_error", "A container needs an image");
    if (!existsSync(directory)) {
      checkMounts(spec, this.paths.dataDir);
      if (!(await this.warm.take(spec, directory))) await makeDirectory(directory, coldRecord(spec, this.paths));
    }
    try {
      await withClaim(directory, () => this.#complete(spec, directory, report));
    } catch (error) {
      const cause = error instanceof LaunchFailure ? error.cause : error;
      if (cause instanceof EngineError) this.options.warn(`instance ${spec.instanceId}: ${cause.detail}`);
      throw error;
    }
  }

  /** From a directory to a program that runs, wherever an earlier launch was cut off. */
  async #complete(spec: InstanceSpec, directory: string, report: (news: LaunchNews) => void): Promise<void> {
    if (settleDelivery(directory)) return;
    for (let attempt = 1; readVerdict(directory) === null; attempt += 1) {
      const record = (await readJson<LaunchRecord>(join(directory, "launch.json"))) ?? coldRecord(spec, this.paths);
      const environment = await this.#ensureWaiting(spec, directory, record, report);
      if (environment === null || readVerdict(directory) !== null) return this.engine.remove(record.container);
      const { assignment, files, leftOut } = planAssignment(spec, this.programs, this.options.program, environment);
      if (leftOut.length > 0) {
        this.options.warn(
          `instance ${spec.instanceId}: variables left out, unusable or too long: ${leftOut.join(", ")}`,
        );
      }
      for (const [name, text] of Object.entries(files)) {
        await writeAtomically(join(directory, "control", name), text);
        chmodSync(join(directory, "control", name), 0o644);
      }
      const ended = async () => (await this.engine.state(record.container, { size: false }))?.phase !== "running";
      const taken =
        (await settleWorkspace(directory, this.paths.workspace(spec.executionId))) &&
        (await deliverAssignment(directory, JSON.stringify(assignment), ended));
      if (taken) return;
      await this.engine.remove(record.container);
      if (readVerdict(directory) !== null) return;
      if (attempt >= 2) {
        throw new LaunchFailure("runtime_error", "The container ended before its program could be started");
      }
      await writeAtomically(join(directory, "launch.json"), JSON.stringify(coldRecord(spec, this.paths)));
    }
  }

  /** @returns the image's environment once the keeper runs; null when the instance was ended meanwhile */
  async #ensureWaiting(
    spec: InstanceSpec,
    directory: string,
    record: LaunchRecord,
    report: (news: LaunchNews) => void,
  ): Promise<readonly string[] | null> {
    const { container } = record;
    // A keeper that waits at its fifo needs nothing of the engine any more.
    if (record.imageEnvironment !== null && isAwaiting(directory)) {
      if (!this.warm.topUp(spec)) await this.#keepWarm(spec);
      return record.imageEnvironment;
    }
    if (spec.image === null) return null;
    const image = await this.#images.get(spec.image, report);
    if (readVerdict(directory) !== null) return null;
    const known: LaunchRecord = { ...record, imageEnvironment: image.environment };
    await writeAtomically(join(directory, "launch.json"), JSON.stringify(known));
    await this.#containers.begin(container, directory, {
      tenant: spec.tenant,
      image,
      labels: {
        [labels.instance]: spec.instanceId,
        [labels.execution]: spec.executionId,
        [labels.tenant]: spec.tenant,
      },
      limits: spec.limits,
      mounts: spec.mounts,
      readOnlyRoot: spec.readOnlyRoot,
      isCommand: spec.command !== null,
      user: spec.command?.user ?? agentUser,
      egress: spec.egress !== null,
    });
    this.warm.keep(spec, image);
    return image.environment;
  }

  async #keepWarm(spec: InstanceSpec): Promise<void> {
    if (spec.pool === null || spec.image === null) return;
    const image = await this.#images.here(spec.image);
    if (image !== null) this.warm.keep(spec, image);
  }

  async inspect(instanceId: string): Promise<"running" | "exited" | "gone"> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null) return "gone";
    const state = await this.engine.state(record.container, { size: false });
    const judged = readVerdict(directory) !== null;
    if (state === null || state.phase === "created" || !isAssigned(directory)) return judged ? "exited" : "gone";
    return state.phase === "ended" ? "exited" : "running";
  }

  async containerOf(instanceId: string): Promise<{ readonly id: string; readonly name: string } | null> {
    const record = await readJson<LaunchRecord>(join(this.paths.instance(instanceId), "launch.json"));
    if (record === null) return null;
    const id = await this.engine.idOf(record.container);
    return id === null ? null : { id, name: record.container };
  }

  async follow(instanceId: string, options: FollowOptions): Promise<InstanceExit> {
    const directory = this.paths.instance(instanceId);
    options.signal.throwIfAborted();
    return followContainer(this.engine, directory, options);
  }

  async pause(instanceId: string): Promise<PauseAnswer> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null || !isAssigned(directory)) return "gone";
    const { container } = record;
    const look = () => this.engine.state(container, { size: false });
    const state = await look();
    if (state === null || state.phase !== "running") return "gone";
    const stillness = new Stillness(directory, containerFreezer(this.engine, container));
    if (!state.isPaused) {
      stillness.markPaused();
      try {
        await this.engine.pause(container);
      } catch (error) {
        stillness.markResumed();
        if (!(error instanceof EngineError) || error.status === null) throw error;
        // It may have ended just now, or another node have been first.
        const now = await look();
        if (now?.phase !== "running") return "gone";
        if (!now.isPaused) return "unsupported";
      }
    }
    if (readVerdict(directory) === null) return "paused";
    stillness.markResumed();
    await this.engine.unpause(container);
    return "gone";
  }

  async resume(instanceId: string): Promise<void> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null) return;
    new Stillness(directory, null).markResumed();
    await this.engine.unpause(record.container);
  }

  async hold<T>(instanceId: string, work: () => Promise<T>): Promise<T> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null) return work();
    return new Stillness(directory, containerFreezer(this.engine, record.container)).hold(work);
  }

  async exec(instanceId: string, command: InsideCommand, signal: AbortSignal): Promise<ExecResult | null> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null || !isAssigned(directory) || readVerdict(directory) !== null) return null;
    const state = await this.engine.state(record.container, { size: false });
    if (state?.phase !== "running" || state.isPaused) return null;
    return runInContainer({ engine: this.engine, programs: this.programs, directory, record }, command, signal);
  }

  async terminate(instanceId: string, graceMs: number): Promise<void> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record === null) return;
    const { container } = record;
    const phase = async () => (await this.engine.state(container, { size: false }))?.phase ?? "gone";
    const state = await this.engine.state(container, { size: false });
    const now = state?.phase ?? "gone";
    if (now === "ended") return;
    const first = writeVerdict(directory, "terminated");
    if (now !== "running" || !isAssigned(directory)) {
      // Nothing runs in it yet, and with the verdict nothing will. Engines fail when a container is removed
      // while it is being made: a launch under way finishes first.
      await untilUnclaimed(directory, killedWithinMs);
      await this.engine.remove(container);
      return;
    }
    // What is paused hears nothing.
    if (state?.isPaused === true) {
      new Stillness(directory, null).markResumed();
      await this.engine.unpause(container);
    }
    if (first) await this.engine.kill(container, "SIGTERM");
    if (await this.#endsWithin(directory, graceMs, phase)) return;
    await this.engine.kill(container, "SIGKILL");
    if (!(await this.#endsWithin(directory, killedWithinMs, phase))) throw new EngineError("cannot be killed", null);
  }

  async #endsWithin(directory: string, ms: number, phase: () => Promise<string>): Promise<boolean> {
    const life = new KeeperWatch(directory);
    try {
      await Promise.race([life.ended, Bun.sleep(ms)]);
      // The engine hears of it a little later than we do.
      const until = performance.now() + noticedWithinMs;
      do {
        const now = await phase();
        if (now === "ended" || now === "gone") return true;
        await Bun.sleep(pollMs);
      } while (performance.now() < until);
      return false;
    } finally {
      life.close();
    }
  }

  async remove(instanceId: string): Promise<void> {
    const directory = this.paths.instance(instanceId);
    const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
    if (record !== null) writeVerdict(directory, "terminated");
    await this.#containers.destroy(record?.container ?? containerName(instanceId), directory);
  }

  async list(): Promise<readonly { readonly instanceId: string; readonly executionId: string }[]> {
    const found = new Map<string, string>();
    for (const name of await readdir(this.paths.instances)) {
      const record = await readJson<LaunchRecord>(join(this.paths.instances, name, "launch.json"));
      if (record !== null && !name.startsWith(".")) found.set(name, record.executionId);
    }
    try {
      // Containers whose directory is lost are found by their labels.
      for (const { labels: of } of await this.engine.list([`${labels.data}=${this.paths.identity}`])) {
        const [instance, execution] = [of[labels.instance], of[labels.execution]];
        if (instance && execution && !found.has(instance)) found.set(instance, execution);
      }
      await this.warm.sweep();
      await this.privates.sweep();
    } catch (error) {
      // What the directories tell is still true.
      if (!(error instanceof EngineError)) throw error;
    }
    return [...found].map(([instanceId, executionId]) => ({ instanceId, executionId }));
  }

  /** Destroys the containers kept ready: of one agent, when it is changed, paused or deleted, or of all. */
  drain(agentId?: string): Promise<void> {
    return this.warm.drain(agentId);
  }
}

const containerName = (instanceId: string) => `svc-${safeId(instanceId)}`;

function coldRecord(
  { instanceId, executionId, limits, mounts, command }: InstanceSpec,
  paths: ContainerPaths,
): LaunchRecord {
  return {
    executionId,
    container: containerName(instanceId),
    diskBytes: limits.diskBytes,
    imageEnvironment: null,
    measured: measuredDirectory(mounts, paths.dataDir, paths.workspace(executionId)),
    isCommand: command !== null,
  };
}

/** @throws LaunchFailure `volume_error` for a mount that cannot be made as it is meant */
function checkMounts({ mounts, command }: InstanceSpec, dataDir: string): void {
  for (const { source, target, isOfHost = false } of mounts) {
    if (!isOfHost && !isOfOneRun(source, dataDir)) {
      throw new LaunchFailure("volume_error", `What is meant for ${target} is never mounted`);
    }
    const kind = lstatSync(source, { throwIfNoEntry: false });
    if (kind === undefined || !(kind.isDirectory() || kind.isFile())) {
      throw new LaunchFailure("volume_error", `The volume at ${target} cannot be mounted: there is nothing`);
    }
  }
  const directories = mounts.filter(({ source }) => lstatSync(source).isDirectory());
  prepareMountPoints(
    directories,
    process.getuid?.() === 0 ? agentUser : null,
    command === null ? "workspace" : "container",
  );
}
