/** The processes of a container as this host knows them: having them stand still, and what they have written. */
import { writtenBy } from "../../../lib/processes/written.ts";
import { members } from "../process/cgroup.ts";
import { freezerOfProcess, groupsOfProcess } from "../process/freezing.ts";
import type { Freezer } from "../stillness.ts";
import type { Engine } from "./engine.ts";

/**
 * By the kernel's freezer, or by the engine where that is out of reach. The first process is asked for at once: when it
 * matters there is no time for it.
 */
export function containerFreezer(engine: Engine, container: string): Freezer {
  let known: Freezer | null = null;
  const find = async (): Promise<Freezer> => {
    if (known !== null) return known;
    const pid = await firstProcess(engine, container);
    known = (pid > 0 ? freezerOfProcess(pid) : null) ?? {
      set: (frozen) => (frozen ? engine.pause(container) : engine.unpause(container)),
      frozen: async () => (await engine.state(container, { size: false }))?.isPaused === true,
    };
    return known;
  };
  void find().catch(() => {});
  return {
    set: async (frozen) => (await find()).set(frozen),
    frozen: async () => (await find()).frozen(),
  };
}

/** @returns what tells how many bytes its processes have written; 0 until it is known where they are */
export function containerWritten(engine: Engine, container: string): () => number {
  let group: string | null = null;
  void firstProcess(engine, container)
    .then((pid) => {
      group = pid > 0 ? (groupsOfProcess(pid)[0] ?? null) : null;
    })
    // Measured now and then in any case.
    .catch(() => {});
  return () => (group === null ? 0 : writtenBy(members(group)));
}

async function firstProcess(engine: Engine, container: string): Promise<number> {
  const state = await engine.state(container, { size: false });
  if (state === null || state.phase !== "running") throw new Error("the container does not run");
  return state.pid;
}
