/**
 * Reading along. The engine's log holds all there is to know of the output, so any node may follow at any time,
 * from the start; what was told before is left out. An engine that does not answer is waited for.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { DiskGrowth, watchGrowth } from "../../../lib/files/disk-growth.ts";
import { readJson } from "../../../lib/files/json-file.ts";
import { EngineError, type ExitReason, type FollowOptions, type InstanceExit, lostExit } from "../instance.ts";
import { Stillness } from "../stillness.ts";
import { diskCheckMs, writtenBytes } from "./disk.ts";
import type { ContainerState, Engine } from "./engine.ts";
import { containerFreezer, containerWritten } from "./freezing.ts";
import { aliveName, FrameReader } from "./keeper/protocol.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { isAssigned, type LaunchRecord, readVerdict, writeVerdict } from "./paths.ts";

const engineAwayMs = 500;
/** An end that is near is looked for at growing intervals, about 2 s in all, then the log is read on. */
const looksAtTheEnd = 60;
const lifeCheckMs = 15;
/** How often to look for what a node held and died with, ms. */
const deadCheckMs = 2_000;

/** @throws the signal's reason when aborted */
export async function followContainer(
  engine: Engine,
  directory: string,
  options: FollowOptions,
): Promise<InstanceExit> {
  const { signal } = options;
  const record = await readJson<LaunchRecord>(join(directory, "launch.json"));
  if (record === null) return lostExit;
  const buffer = new OutputBuffer(options);
  for (let ending = 0; ; ) {
    signal.throwIfAborted();
    const state = await look(engine, record.container);
    signal.throwIfAborted();
    if (state === "away") {
      await pause(engineAwayMs, signal);
      continue;
    }
    if (state === null || state.phase === "created" || !isAssigned(directory)) {
      const verdict = readVerdict(directory);
      return { ...lostExit, ...buffer.conclude(record.isCommand), reason: verdict ?? "lost" };
    }
    if (state.phase === "ended") {
      if (!(await readToEnd(engine, record.container, buffer, signal))) continue;
      return await describe(engine, directory, record, state, buffer);
    }
    if (ending === 0) await alongside(engine, directory, record, buffer, signal);
    // Its first process is as good as gone, or the log broke off; the engine needs a moment to notice.
    ending = (ending + 1) % looksAtTheEnd;
    await pause(ending, signal);
  }
}

async function look(engine: Engine, container: string): Promise<ContainerState | null | "away"> {
  try {
    return await engine.state(container, { size: false });
  } catch (error) {
    if (error instanceof EngineError) return "away";
    throw error;
  }
}

/** Reads while the container runs; ends when it does, when the log breaks off, or with the signal. */
async function alongside(
  engine: Engine,
  directory: string,
  record: LaunchRecord,
  buffer: OutputBuffer,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const aborted = () => stop.abort();
  signal.addEventListener("abort", aborted, { once: true });
  const endWatch = watchDisk(engine, directory, record);
  const life = new KeeperWatch(directory);
  const frames = new FrameReader();
  const log = engine
    .readLog(record.container, { follow: true, signal: stop.signal }, (text) => {
      if (stop.signal.aborted) return;
      for (const frame of frames.read(text)) buffer.add(frame);
    })
    .catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  try {
    await Promise.race([
      life.ended,
      buffer.ended,
      log,
      new Promise((resolve) => stop.signal.addEventListener("abort", resolve)),
    ]);
  } finally {
    stop.abort();
    endWatch();
    life.close();
    signal.removeEventListener("abort", aborted);
    await log;
  }
}

/** False when the log could not be read. */
async function readToEnd(
  engine: Engine,
  container: string,
  buffer: OutputBuffer,
  signal: AbortSignal,
): Promise<boolean> {
  const frames = new FrameReader();
  try {
    await engine.readLog(container, { follow: false, signal }, (text) => {
      for (const frame of frames.read(text)) buffer.add(frame);
    });
    return true;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    await pause(engineAwayMs, signal);
    return false;
  }
}

async function describe(
  engine: Engine,
  directory: string,
  record: LaunchRecord,
  state: ContainerState,
  buffer: OutputBuffer,
): Promise<InstanceExit> {
  const output = buffer.conclude(record.isCommand);
  const { exitCode } = state;
  const exit = (reason: ExitReason): InstanceExit => ({ reason, exitCode, ...output });
  const verdict = readVerdict(directory);
  if (verdict === "disk_exceeded") return exit(verdict);
  if (state.outOfMemory || buffer.outOfMemory) return exit("out_of_memory");
  if (verdict !== null) return exit(verdict);
  if (exitCode !== 0) {
    const { container, measured } = record;
    const used = await writtenBytes(engine, { container, directory: measured, besideVolumes: directory });
    if (used !== null && used > record.diskBytes) return exit("disk_exceeded");
  }
  return exit("exited");
}

/** Looks at the disk now and then, and when its file system grows; ends an instance that has written too much. */
function watchDisk(engine: Engine, directory: string, record: LaunchRecord): () => void {
  const { container, measured, diskBytes } = record;
  // The engine's own file system is not known; where nothing else is measured ours tells as much.
  const growth = new DiskGrowth(measured ?? directory, diskCheckMs, diskBytes, containerWritten(engine, container));
  /** Bytes that may still be written; null when they cannot be told. */
  const measure = async (): Promise<number | null> => {
    const used = await writtenBytes(engine, { container, directory: measured, besideVolumes: directory });
    if (used === null || used <= diskBytes) return used === null ? null : diskBytes - used;
    writeVerdict(directory, "disk_exceeded");
    await engine.kill(container, "SIGKILL");
    return 0;
  };
  const stillness = new Stillness(directory, containerFreezer(engine, container));
  const forgetting = setInterval(() => void stillness.forgetDead(), deadCheckMs);
  const end = watchGrowth(
    growth,
    measure,
    (work) => stillness.hold(work),
    (error) => {
      // Measured again soon.
      if (!(error instanceof EngineError)) throw error;
    },
  );
  return () => {
    clearInterval(forgetting);
    end();
  };
}

/**
 * Learns of the keeper's end sooner than engines tell: it holds one end of a fifo, and a read at the other one fails
 * for want of data as long as it does. Looked at by the clock, for event loops tell of a fifo's end unreliably.
 */
export class KeeperWatch {
  readonly ended: Promise<void>;
  readonly #fifo: number | null;
  readonly #timer: ReturnType<typeof setInterval> | null = null;

  constructor(directory: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#fifo = openFifo(join(directory, "control", aliveName));
    const fifo = this.#fifo;
    if (fifo === null) return;
    const byte = new Uint8Array(1);
    this.#timer = setInterval(() => {
      try {
        if (readSync(fifo, byte, 0, 1, null) === 0) resolve();
      } catch {
        // Nothing to read: it lives.
      }
    }, lifeCheckMs);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#fifo !== null) closeSync(this.#fifo);
  }
}

function openFifo(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await Promise.race([
    Bun.sleep(ms),
    new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
  ]);
}
