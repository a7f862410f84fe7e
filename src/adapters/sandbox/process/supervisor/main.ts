/**
 * The supervisor: one small process per instance, started by a node and outliving it. It runs the instance,
 * keeps its output in bounded files, watches the limits that the kernel does not, ends it when asked to by
 * SIGTERM or once its directory was removed, and leaves the exit in a file. Bundled to one file; see
 * `src/programs/bundle.ts`.
 *
 * Argument: the instance's directory.
 */
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DiskGrowth, watchGrowth } from "../../../../lib/files/disk-growth.ts";
import { untilRoom } from "../../../../lib/files/disk-room.ts";
import { readJson, writeAtomically } from "../../../../lib/files/json-file.ts";
import { identify, isAlive, type ProcessIdentity, processes, signal } from "../../../../lib/processes/process-table.ts";
import { writtenBy } from "../../../../lib/processes/written.ts";
import { childOutput } from "../../../../programs/pipes.ts";
import type { ExitReason } from "../../instance.ts";
import { Stillness } from "../../stillness.ts";
import { openSources, openTexts } from "../bubblewrap/mount-sources.ts";
import { InstanceCgroup, members } from "../cgroup.ts";
import {
  type InstanceProcesses,
  killProcesses,
  livingProcesses,
  removeGroups,
  sampleProcesses,
} from "../cleanup/cleanup.ts";
import { enteredFolder } from "../entered.ts";
import { freezerOf, thaw } from "../freezing.ts";
import { supervisorScript } from "../launch/start-text.ts";
import {
  type ExitRecord,
  type LaunchPlan,
  type SupervisorRecord,
  type TerminationRequest,
  takeClaim,
} from "../layout.ts";
import { SegmentWriter } from "../segments.ts";
import { diskUsage } from "./disk.ts";
import { memoryUse, residentBytes } from "./memory.ts";

/** Where the kernel does not keep the limit; in between lies what `ulimit -d` and the sizes of tmpfs mounts bound. */
const memoryGlanceMs = 100;
const memoryCheckMs = 500;
const diskCheckMs = 3_000;
const directoryCheckMs = 1_000;
const pipesOpenAfterExitMs = 2_000;
const defaultGraceMs = 5_000;

const directory = process.argv[2] ?? "";

class Instance {
  #child: Bun.Subprocess | null = null;
  /** Why the instance is ended early; null while it may go on. */
  #verdict: ExitReason | null = null;
  #asked = false;
  readonly #cgroup: InstanceCgroup | null;
  readonly #stillness: Stillness;

  constructor(readonly plan: LaunchPlan) {
    this.#growth = new DiskGrowth(plan.measured ?? plan.dataDir, diskCheckMs, null, () => this.#written());
    this.#cgroup = plan.cgroups === null ? null : new InstanceCgroup(plan.cgroups, plan.instanceId, plan.limits);
    this.#stillness = new Stillness(directory, freezerOf(this.#cgroup?.directories ?? []));
  }

  get #ownProcesses(): InstanceProcesses {
    return {
      root: this.#child?.pid ?? null,
      cgroups: this.#cgroup?.directories ?? [],
      mark: this.plan.mark,
    };
  }

  async run(): Promise<void> {
    process.on("SIGTERM", () => void this.#end());
    await this.#register();
    // Asked to end before it began.
    if (this.#asked) return leave({ reason: "terminated", exitCode: null });
    const outputs = [childOutput(this.plan.owner), childOutput(this.plan.owner)] as const;
    const stdin = openSync(this.plan.stdin ?? "/dev/null", "r");
    // Before anything can write, so that the room is known from the first moment on.
    await this.#growth.measuring(() => this.#diskRoom());
    const files = await untilRoom(() => this.#files());
    const child = Bun.spawn(
      [
        "/bin/sh",
        "-c",
        supervisorScript(this.#cgroup?.directories ?? [], this.plan.limits, this.#keepsMemory),
        "svc",
        ...this.plan.command,
      ],
      {
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        stdio: [stdin, outputs[0].stdio, outputs[1].stdio, ...files],
        detached: true,
      },
    );
    for (const file of files) closeSync(file);
    this.#child = child;
    closeSync(stdin);
    const drained = Promise.all([
      keep(outputs[0].open(child.stdout), new SegmentWriter(directory, "stdout")),
      keep(outputs[1].open(child.stderr), new SegmentWriter(directory, "stderr")),
    ]);
    const watches = [
      setInterval(
        () => void this.#watchMemory(),
        this.#keepsMemory || !this.plan.contained ? memoryCheckMs : memoryGlanceMs,
      ),
      setInterval(() => void this.#stillness.forgetDead(), directoryCheckMs),
      // No node will ever find an instance without a directory, so none would end it or ask for its end.
      setInterval(() => isRemoved() && this.#kill("lost"), directoryCheckMs),
    ];
    const endWatch = this.#watchDisk();
    const exitCode = await child.exited;
    for (const watch of watches) clearInterval(watch);
    endWatch();
    this.#noticeMemory();
    const disk = this.#verdict === null && exitCode !== 0 ? await this.#overDisk() : false;
    await Promise.race([drained, Bun.sleep(this.plan.contained ? pipesOpenAfterExitMs : 200)]);
    await killProcesses(this.#ownProcesses);
    await Promise.race([drained, Bun.sleep(pipesOpenAfterExitMs)]);
    const reason = this.#verdict ?? (disk ? "disk_exceeded" : "exited");
    await leave({ reason, exitCode });
    await removeGroups(this.#ownProcesses.cgroups);
  }

  /** What the command gets beside its streams, in the order of `descriptors`. */
  #files(): number[] {
    const { start, options, filter, sources, dataDir, mountsOpened } = this.plan;
    if (options === null) return openTexts(directory, { start, options: "", filter: null }, 0).slice(0, 1);
    const opened = openSources(sources, dataDir);
    const texts = openTexts(directory, { start, options, filter }, opened.length);
    if (mountsOpened) return [...texts, ...opened];
    for (const file of opened) closeSync(file);
    return texts;
  }

  async #register(): Promise<void> {
    const identity = identify(process.pid);
    if (identity === null) throw new Error("cannot identify this process");
    const record: SupervisorRecord = { ...identity, cgroups: this.#cgroup?.directories ?? [] };
    await untilRoom(() => writeAtomically(join(directory, "supervisor.json"), JSON.stringify(record)));
  }

  /** Asks the instance to end; after the grace it is killed. A second request with a shorter grace counts. */
  async #end(): Promise<void> {
    this.#verdict ??= "terminated";
    // Before anything is waited for: two requests at once still signal once.
    if (!this.#asked) this.#askToEnd();
    this.#asked = true;
    const { graceMs } = (await readJson<TerminationRequest>(join(directory, "end.json"))) ?? {
      graceMs: defaultGraceMs,
    };
    setTimeout(() => this.#kill("terminated"), graceMs);
  }

  /** SIGTERM to the program's group; inside bubblewrap that is the grandchild, behind its two own processes. */
  #askToEnd(): void {
    const root = this.#child?.pid;
    if (root === undefined) return;
    void this.#stillness.resume();
    const rows = processes();
    const below = (pid: number) => rows.filter((row) => row.parent === pid);
    const programs = this.plan.contained ? below(root).flatMap((first) => below(first.pid)) : [];
    if (!this.plan.contained) signal(-root, "SIGTERM");
    for (const program of programs) signal(program.group === root ? program.pid : -program.group, "SIGTERM");
    // Still starting: there is nothing to ask yet.
    if (this.plan.contained && programs.length === 0) this.#kill("terminated");
  }

  #kill(reason: ExitReason): void {
    this.#verdict ??= reason;
    const own = this.#ownProcesses;
    for (const pid of livingProcesses(own)) signal(pid, "SIGKILL");
    if (own.root !== null) signal(-own.root, "SIGKILL");
    thaw(own.cgroups);
  }

  #noticeMemory(): void {
    if (this.#cgroup?.ranOutOfMemory()) this.#verdict = "out_of_memory";
  }

  get #keepsMemory(): boolean {
    return this.#cgroup?.has("memory") ?? false;
  }

  #countingMemory = false;
  #memoryCountedAt = 0;
  async #watchMemory(): Promise<void> {
    this.#noticeMemory();
    if (this.#verdict === "out_of_memory") this.#kill("out_of_memory");
    if (this.#keepsMemory || this.#countingMemory) return;
    this.#countingMemory = true;
    try {
      if (await this.#isOverMemory()) this.#kill("out_of_memory");
    } finally {
      this.#countingMemory = false;
    }
  }

  /** Counts what there is now and then, and at once when a quick look finds much. */
  async #isOverMemory(): Promise<boolean> {
    const { memoryBytes } = this.plan.limits;
    const pids = this.#sampled();
    const isDue = performance.now() - this.#memoryCountedAt >= memoryCheckMs;
    if (!isDue && residentBytes(pids) <= memoryBytes) return false;
    this.#memoryCountedAt = performance.now();
    return (await memoryUse(pids)) > memoryBytes;
  }

  /** By what is in the instance's groups; without groups it would be the whole machine's processes to look through. */
  #written(): number {
    const [group] = this.#cgroup?.directories ?? [];
    return group === undefined ? 0 : writtenBy(members(group));
  }

  readonly #growth: DiskGrowth;
  #watchDisk(): () => void {
    const measure = async () => {
      const room = await this.#diskRoom();
      if (room !== null && room < 0) this.#kill("disk_exceeded");
      return room;
    };
    return watchGrowth(
      this.#growth,
      measure,
      (work) => this.#stillness.hold(work),
      () => {},
    );
  }

  async #overDisk(): Promise<boolean> {
    const room = await this.#diskRoom();
    return room !== null && room < 0;
  }

  /** The instance's own, and what entered it from outside. */
  #sampled(): number[] {
    const own = sampleProcesses(this.#ownProcesses);
    const entered = enteredIn(directory).flatMap((root) => sampleProcesses({ root, cgroups: [], mark: null }));
    return entered.length === 0 ? own : [...new Set([...own, ...entered])];
  }

  /** Bytes that may still be written; null when they cannot be told. */
  async #diskRoom(): Promise<number | null> {
    const { measured, limits, dataDir } = this.plan;
    // Volumes are measured by the node, but what was deleted in one shows only here.
    const used = await diskUsage(measured === null ? [] : [measured], this.#sampled(), [dataDir]);
    return used === null ? null : limits.diskBytes - used;
  }
}

/** Processes of the host that have entered the instance; see `src/adapters/sandbox/process/hand.ts`. */
function enteredIn(instance: string): number[] {
  const folder = join(instance, enteredFolder);
  try {
    return readdirSync(folder).flatMap((name) => {
      const identity: ProcessIdentity | null = JSON.parse(readFileSync(join(folder, name), "utf8"));
      return identity !== null && isAlive(identity) ? [identity.pid] : [];
    });
  } catch {
    // None ever has, or one has just left.
    return [];
  }
}

async function keep(stream: ReadableStream<Uint8Array>, writer: SegmentWriter): Promise<void> {
  try {
    // While the disk is full the instance waits at its full pipe.
    for await (const chunk of stream)
      for (let done = 0; done < chunk.length; ) done += await untilRoom(() => writer.write(chunk, done));
  } catch (error) {
    if (!isRemoved()) throw error;
  }
}

/** Whether the instance's directory is gone for good: a node ends the instance first, so it was removed with all data. */
function isRemoved(): boolean {
  try {
    return statSync(join(directory, "launch.json"), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

async function leave(record: ExitRecord): Promise<void> {
  if (isRemoved()) return;
  await untilRoom(() => writeAtomically(join(directory, "exit.json"), JSON.stringify(record)));
}

const plan = await readJson<LaunchPlan>(join(directory, "launch.json"));
if (plan !== null && (await untilRoom(() => takeClaim(directory)))) {
  try {
    await new Instance(plan).run();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    await leave({ reason: "lost", exitCode: null });
  }
}
process.exit(0);
