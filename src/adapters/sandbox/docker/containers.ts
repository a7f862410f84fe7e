/** Making containers, whether for an instance or to be kept ready: from nothing to a keeper that waits. */

import { chmodSync, chownSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { agentUser } from "../../../lib/files/agent-files.ts";
import { writeAtomically } from "../../../lib/files/json-file.ts";
import { makeSocketFolder } from "../../../lib/sockets/tenant-sockets.ts";
import { EngineError, LaunchFailure } from "../instance.ts";
import { trustedPath } from "../process/bubblewrap/bubblewrap.ts";
import { type ContainerNeeds, containerOptions } from "./container-options.ts";
import type { Engine } from "./engine.ts";
import { aliveName, assignName } from "./keeper/protocol.ts";
import type { ContainerPaths, LaunchRecord } from "./paths.ts";
import type { ContainerPrograms } from "./programs.ts";

/** An engine that refuses is asked again: some refusals are transient. */
const attempts = 3;
const retryMs = 300;

export type Needs = Omit<ContainerNeeds, "control" | "command" | "bootstrapScript">;

/**
 * Makes a directory of a container, whole or not at all.
 * @param fill puts more into it before it is in place
 * @returns false when there was one already
 */
export async function makeDirectory(
  directory: string,
  record: LaunchRecord,
  fill: (draft: string) => Promise<void> = async () => {},
): Promise<boolean> {
  const draft = join(dirname(directory), `.draft-${crypto.randomUUID()}`);
  const control = join(draft, "control");
  try {
    await mkdir(draft, { mode: 0o700 });
    await mkdir(control);
    chmodSync(control, 0o755);
    const fifos = [aliveName, assignName].map((name) => join(control, name));
    const made = Bun.spawnSync(["mkfifo", "-m", "666", "--", ...fifos], { env: { PATH: trustedPath } });
    if (made.exitCode !== 0) throw new Error("mkfifo failed");
    await writeAtomically(join(draft, "launch.json"), JSON.stringify(record));
    await fill(draft);
    await rename(draft, directory);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
    return false;
  }
}

/** A workspace of the agents' user. */
export function makeWorkspace(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o755 });
  if (process.getuid?.() === 0) chownSync(path, agentUser, agentUser);
}

export class Containers {
  constructor(
    readonly engine: Engine,
    readonly paths: ContainerPaths,
    readonly programs: ContainerPrograms,
  ) {}

  /**
   * Makes and starts a container; one that is there already is started.
   * @throws LaunchFailure `runtime_error` when the engine refuses
   * @throws EngineError when it does not answer
   */
  async begin(container: string, directory: string, needs: Needs): Promise<void> {
    makeSocketFolder(this.paths.gateway, needs.tenant);
    makeSocketFolder(this.paths.egress, needs.tenant);
    const options = containerOptions(
      {
        ...needs,
        control: join(directory, "control"),
        command: this.programs.keeper,
        bootstrapScript: this.programs.bootstrapScript,
      },
      this.paths,
    );
    await this.#insist(async () => void (await this.engine.create(container, options)));
    await this.start(container);
  }

  async start(container: string): Promise<void> {
    await this.#insist(() => this.engine.start(container));
  }

  async #insist(act: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof EngineError) || error.status === null) throw error;
        if (attempt >= attempts || error.status < 500) {
          throw new LaunchFailure("runtime_error", "The container engine refused the container", { cause: error });
        }
        await Bun.sleep(retryMs * attempt);
      }
    }
  }

  /** Ends a container and takes away everything of it. Repeatable. */
  async destroy(container: string, directory: string): Promise<void> {
    await this.engine.remove(container);
    rmSync(directory, { recursive: true, force: true });
  }
}
