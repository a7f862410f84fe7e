/**
 * Containers kept ready: started, their keeper waiting, without an execution. One is given to one instance, with its
 * directory and its workspace, and is destroyed with it. They are this process's own: what another process of the
 * host left behind when it died is removed.
 */

import { existsSync, readdirSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { agentUser } from "../../../lib/files/agent-files.ts";
import { readJson, writeAtomically } from "../../../lib/files/json-file.ts";
import { identify, isAlive, type ProcessIdentity } from "../../../lib/processes/process-table.ts";
import { EngineError, type InstanceSpec, LaunchFailure } from "../instance.ts";
import { instancePaths } from "../instance-environment.ts";
import { isAwaiting } from "./assignment-delivery.ts";
import { labels } from "./container-options.ts";
import { type Containers, makeDirectory, makeWorkspace, type Needs } from "./containers.ts";
import type { ImageFacts } from "./engine.ts";
import type { LaunchRecord } from "./paths.ts";

const idleMs = 30 * 60_000;
/** The run that asked for one starts first. */
const fillAfterMs = 200;
/** A keeper that does not come up within this is given up. */
const readyMs = 30_000;

export interface WarmPoolOptions {
  /** Containers kept ready at most, over all agents. */
  readonly cap: number;
  readonly idleMs?: number;
  readonly warn: (message: string) => void;
}

interface Kind {
  readonly key: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly size: number;
  readonly needs: Needs;
}

interface Ready {
  readonly id: string;
  readonly kind: Kind;
  readonly idle: ReturnType<typeof setTimeout>;
}

export class WarmPool {
  readonly #kinds = new Map<string, Kind>();
  readonly #ready: Ready[] = [];
  #filling: Promise<void> | null = null;
  #again = false;

  constructor(
    readonly containers: Containers,
    readonly options: WarmPoolOptions,
  ) {}

  /**
   * Gives a container to an instance: `directory` is then its directory, and its workspace the execution's own.
   * @returns false when there is none, or the run has volumes or files that a waiting one cannot have
   */
  async take(spec: InstanceSpec, directory: string): Promise<boolean> {
    const workspace = this.#workspaceOf(spec);
    if (spec.pool === null || workspace === null) return false;
    const key = keyOf(spec);
    const at = this.#ready.findIndex(({ kind }) => kind.key === key);
    const [ready] = at < 0 ? [] : this.#ready.splice(at, 1);
    if (ready === undefined) return false;
    clearTimeout(ready.idle);
    const waiting = this.#directory(ready.id);
    try {
      const record = await readJson<LaunchRecord>(join(waiting, "launch.json"));
      if (record === null || !isAwaiting(waiting)) throw new Error("it waits no more");
      const given: LaunchRecord = { ...record, executionId: spec.executionId, measured: workspace };
      await writeAtomically(join(waiting, "launch.json"), JSON.stringify(given));
      await rename(waiting, directory);
      if (await settleWorkspace(directory, workspace)) return true;
      await this.containers.destroy(record.container, directory);
      return false;
    } catch {
      if (existsSync(waiting)) await this.#destroy(ready.id);
      return false;
    }
  }

  /** The host directory that a waiting workspace can become; null where the run has more than that, or files. */
  #workspaceOf({ mounts, executionId }: InstanceSpec): string | null {
    const [mount, ...others] = mounts;
    if (mount === undefined || others.length > 0 || mount.target !== instancePaths.workspace || mount.readOnly)
      return null;
    if (mount.source !== this.containers.paths.workspace(executionId)) return null;
    return isEmpty(mount.source) ? mount.source : null;
  }

  /** Keeps containers ready from now on for runs like this one; those of the agent's other kinds go. */
  keep(spec: InstanceSpec, image: ImageFacts): void {
    if (spec.pool === null || spec.pool.size <= 0) return;
    const agentId = spec.environment.SVC_AGENT_ID ?? "";
    const key = keyOf(spec);
    for (const kind of [...this.#kinds.values()]) {
      if (kind.key !== key && kind.tenant === spec.tenant && kind.agentId === agentId) this.#forget(kind);
    }
    this.#kinds.set(key, {
      key,
      tenant: spec.tenant,
      agentId,
      size: spec.pool.size,
      needs: {
        tenant: spec.tenant,
        image,
        labels: { [labels.warm]: key, [labels.tenant]: spec.tenant },
        limits: spec.limits,
        mounts: [],
        readOnlyRoot: spec.readOnlyRoot,
        isCommand: false,
        user: agentUser,
        egress: spec.egress !== null,
      },
    });
    this.#fill();
  }

  /** Whether runs like this one are kept ready for already; then they are topped up. */
  topUp(spec: InstanceSpec): boolean {
    if (!this.#kinds.has(keyOf(spec))) return false;
    this.#fill();
    return true;
  }

  /** Destroys what waits, of one agent or of all, and keeps none of it ready any more. */
  async drain(agentId?: string): Promise<void> {
    for (const kind of [...this.#kinds.values()]) {
      if (agentId === undefined || kind.agentId === agentId) this.#kinds.delete(kind.key);
    }
    await this.#filling?.catch(() => {});
    const gone = this.#ready.filter(({ kind }) => agentId === undefined || kind.agentId === agentId);
    await Promise.all(gone.map((ready) => this.#drop(ready)));
  }

  /** Resolves once as many are ready as shall be. */
  async settled(): Promise<void> {
    while (this.#filling !== null) await this.#filling;
  }

  get waiting(): number {
    return this.#ready.length;
  }

  #forget(kind: Kind): void {
    this.#kinds.delete(kind.key);
    for (const ready of this.#ready.filter((one) => one.kind.key === kind.key)) void this.#drop(ready);
  }

  async #drop(ready: Ready): Promise<void> {
    const at = this.#ready.indexOf(ready);
    if (at < 0) return;
    this.#ready.splice(at, 1);
    clearTimeout(ready.idle);
    await this.#destroy(ready.id).catch((error: unknown) => this.#complain(error));
  }

  #fill(): void {
    this.#again = true;
    this.#filling ??= Bun.sleep(fillAfterMs)
      .then(() => this.#fillAll())
      .finally(() => {
        this.#filling = null;
      });
  }

  /** One after the other: runs that are waited for come first. */
  async #fillAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (const kind of [...this.#kinds.values()]) {
        while (this.#wants(kind)) {
          try {
            await this.#make(kind);
          } catch (error) {
            this.#complain(error);
            break;
          }
        }
      }
    }
  }

  #wants(kind: Kind): boolean {
    const { length } = this.#ready.filter((ready) => ready.kind.key === kind.key);
    return this.#kinds.get(kind.key) === kind && length < kind.size && this.#ready.length < this.options.cap;
  }

  async #make(kind: Kind): Promise<void> {
    const id = crypto.randomUUID();
    const directory = this.#directory(id);
    const container = `svc-warm-${id}`;
    const record: LaunchRecord = {
      executionId: "",
      container,
      diskBytes: kind.needs.limits.diskBytes,
      imageEnvironment: kind.needs.image.environment,
      measured: null,
    };
    try {
      await makeDirectory(directory, record, async (draft) => {
        makeWorkspace(join(draft, "workspace"));
        await writeAtomically(join(draft, "owner"), JSON.stringify(identify(process.pid)));
      });
      const mounts = [{ source: join(directory, "workspace"), target: instancePaths.workspace, readOnly: false }];
      await this.containers.begin(container, directory, { ...kind.needs, mounts });
      const until = performance.now() + readyMs;
      while (!isAwaiting(directory)) {
        if (performance.now() > until) throw new Error("its first process does not come up");
        await Bun.sleep(10);
      }
    } catch (error) {
      await this.#destroy(id).catch(() => {});
      throw error;
    }
    const ready: Ready = {
      id,
      kind,
      idle: setTimeout(() => void this.#drop(ready), this.options.idleMs ?? idleMs),
    };
    ready.idle.unref?.();
    this.#ready.push(ready);
  }

  /** Removes what other processes left when they died. */
  async sweep(): Promise<void> {
    const { engine, paths } = this.containers;
    const labelled = await engine.list([`${labels.data}=${paths.identity}`, labels.warm]);
    const names = await readdir(paths.warm);
    for (const name of names) {
      const owner = await readJson<ProcessIdentity>(join(paths.warm, name, "owner"));
      if (owner !== null && !isAlive(owner)) await this.#destroy(name);
    }
    // In this order: one that is being given away is in the one place or in the other.
    const known = new Set(names.map((name) => `svc-warm-${name}`));
    for (const name of await readdir(paths.instances)) {
      const record = await readJson<LaunchRecord>(join(paths.instances, name, "launch.json"));
      if (record !== null) known.add(record.container);
    }
    for (const { name } of labelled) if (!known.has(name)) await engine.remove(name);
  }

  #directory(id: string): string {
    return join(this.containers.paths.warm, id);
  }

  #destroy(id: string): Promise<void> {
    return this.containers.destroy(`svc-warm-${id}`, this.#directory(id));
  }

  #complain(error: unknown): void {
    const cause = error instanceof LaunchFailure ? error.cause : error;
    const reason = cause instanceof EngineError ? cause.detail : error instanceof Error ? error.message : String(error);
    this.options.warn(`warm pool: ${reason}`);
  }
}

/**
 * The waiting workspace becomes the execution's: mounts follow the directory through its renaming.
 * @returns false when the execution has files there already
 */
export async function settleWorkspace(directory: string, workspace: string): Promise<boolean> {
  const premade = join(directory, "workspace");
  if (!existsSync(premade)) return true;
  try {
    await rename(premade, workspace);
    rmSync(join(directory, "owner"), { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Everything that a waiting container was made for, besides the caller's own key. */
function keyOf({ tenant, pool, image, limits, readOnlyRoot, egress }: InstanceSpec): string {
  const fixed = JSON.stringify([tenant, pool?.key, image, limits, readOnlyRoot, egress !== null]);
  return new Bun.CryptoHasher("sha256").update(fixed).digest("hex").slice(0, 32);
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}
