/** One attempt at a command: its sandbox from the launch to the end, taken up wherever an earlier node left it. */
import { setTimeout as later } from "node:timers/promises";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Room } from "../../../../../actors/policy/storage-room.ts";
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import {
  EngineError,
  type InstanceSpec,
  type Isolation,
  LaunchFailure,
  type Sandbox,
} from "../../../../adapters/sandbox/port.ts";
import type { Hold } from "../../../../lib/files/disk-growth.ts";
import type { Masker } from "../../../../lib/masking/masker.ts";
import { callAt } from "../../../../lib/timers.ts";
import type { ActivityContext } from "../../../../runtime/port.ts";
import { endInstance } from "../../../executions/port.ts";
import { writtenTooMuch } from "../../../storage-violations/port.ts";
import { type AttemptRecord, type Attempts, instanceOf, thisMachine } from "./attempts.ts";
import type { CommandPlace } from "./place.ts";
import { type Fault, nothingOf, resultOf } from "./result.ts";
import type { CommandOptions } from "./spec.ts";
import { commandSpec, diskBytes, openFilesystem, runIdOf } from "./spec.ts";

/** Between SIGTERM and SIGKILL (docs/reference/workflows.md). */
const graceMs = 5_000;
/** The longest that an image may take to come. */
const pullMs = 200_000;
/** An end that could not be brought about is tried again after this. */
const againMs = 1_000;
/** Times that a launch without an answer is repeated by the runtime; then it is a fault. */
const silentAttempts = 3;
/** Nothing of the output is told on as it comes. */
const nowhere = { stdout: Number.MAX_SAFE_INTEGER, stderr: Number.MAX_SAFE_INTEGER };

/** Faults that the next attempt would meet again. */
const lasting: readonly string[] = ["template_value_invalid", "sandbox_unavailable", "registry_credentials_invalid"];

export type AttemptEnd = ReturnType<typeof resultOf>;

export class Attempt {
  readonly instanceId: string;
  #launchedAt: number | null = null;
  /** Hides the values that the command was given; null: none. */
  #masker: Masker | null = null;

  constructor(
    readonly options: CommandOptions,
    readonly attempts: Attempts,
    readonly work: CommandRun,
    readonly context: ActivityContext,
    readonly place: Extract<CommandPlace, { ok: true }>,
    readonly number: number,
    /** How long sandboxes of attempts before this one ran, ms. */
    readonly ranBefore: number,
  ) {
    this.instanceId = instanceOf(work.instance_id, number);
  }

  /**
   * @param known what the host remembers of this attempt; null: nothing
   * @throws when this node cannot go on with it now; nothing is lost then
   */
  async run(known: AttemptRecord | null): Promise<AttemptEnd> {
    const launched = await this.#launch(known);
    if ("fault" in launched || "error" in launched) return this.#hidden(launched);
    const { sandbox, at } = launched;
    this.#launchedAt = at;
    // Also of one that was only begun: it may have been launched before its node was lost.
    if (known !== null && !(await this.#knowsValues(known.at))) {
      await endInstance(sandbox, this.instanceId);
      return { fault: "interrupted", message: "A secret was replaced while the command ran and its node was lost" };
    }
    const end = await this.#follow(sandbox, at);
    if ("fault" in end) await endInstance(sandbox, this.instanceId);
    return this.#hidden(end);
  }

  /** Of a command that was launched before: whether what it was given is known, so that it can be hidden. */
  async #knowsValues(launchedAt: number): Promise<boolean> {
    const masker = await this.options.secrets.look(this.work, this.context.actor, launchedAt);
    if (masker === "unknown") return false;
    this.#masker = masker;
    return true;
  }

  #hidden(end: AttemptEnd): AttemptEnd {
    const masker = this.#masker;
    if (masker === null) return end;
    if ("fault" in end) return { ...end, message: masker.mask(end.message) };
    return { ...end, stdout: masker.mask(end.stdout), stderr: masker.mask(end.stderr) };
  }

  /** Makes sure that it runs, or has run. */
  async #launch(known: AttemptRecord | null): Promise<{ sandbox: Sandbox; at: number } | AttemptEnd> {
    if (known?.phase === "launched") this.#launchedAt = known.at;
    if (known !== null && known.machine !== thisMachine) return { fault: "interrupted", message: "" };
    const { offered } = this.options.sandboxes;
    if (known?.phase === "launched") {
      const holder = await this.#holder(offered);
      return holder === null ? { fault: "interrupted", message: "" } : { sandbox: holder, at: known.at };
    }
    const own = this.place.sandbox.describe().isolation;
    const holder = await this.#holder(offered.filter((isolation) => isolation !== own));
    if (holder === null) {
      if (known === null) await this.note("begun");
      // An earlier node may have been cut off anywhere in this: what it left is completed, what it started is found.
      const fault = await this.#begin();
      if (fault !== null) return fault;
    }
    return { sandbox: holder ?? this.place.sandbox, at: await this.note("launched") };
  }

  /** The sandbox that has it: not the one that it would be given now, where the node was set up anew. */
  async #holder(isolations: readonly Isolation[]): Promise<Sandbox | null> {
    const { sandboxes } = this.options;
    for (const isolation of isolations) {
      const sandbox = sandboxes.of(isolation);
      if (sandbox !== null && (await sandbox.inspect(this.instanceId)) !== "gone") return sandbox;
    }
    return null;
  }

  /** @returns why it cannot be launched */
  async #begin(): Promise<AttemptEnd | null> {
    const { options, attempts, work, context, place } = this;
    try {
      const { env, masker } = await options.secrets.take(work, context.actor);
      this.#masker = masker;
      const spec = await commandSpec(options, work, env, context.actor, place, {
        instanceId: this.instanceId,
        makeWorkspace: () => attempts.makeWorkspace(work.instance_id, this.number, work.run_as_user),
        deadlineAt: options.now() + work.timeout_ms + pullMs,
        signal: context.signal,
      });
      await this.#launchUnlessGivenUp(spec);
      return null;
    } catch (error) {
      const fault = this.#faultOf(error);
      // Should something have come of it nevertheless.
      await endInstance(place.sandbox, this.instanceId);
      return fault;
    }
  }

  /** A launch can take minutes; what is given up meanwhile must not begin to run at its end. */
  async #launchUnlessGivenUp(spec: InstanceSpec): Promise<void> {
    const { signal } = this.context;
    const { sandbox } = this.place;
    const givenUp = () => {
      if (signal.reason === "abandoned") void sandbox.terminate(spec.instanceId, 0).catch(() => {});
    };
    signal.throwIfAborted();
    signal.addEventListener("abort", givenUp, { once: true });
    try {
      await sandbox.launch(spec, () => {});
    } finally {
      signal.removeEventListener("abort", givenUp);
    }
  }

  /** @throws the error when this work is cut off, or a repeat may help */
  #faultOf(error: unknown): AttemptEnd {
    if (this.context.signal.aborted) throw error;
    // What it refers to cannot be used any more; the next attempt would meet the same.
    if (error instanceof Problem && error.status < 500) return { ...nothingOf(error.code), stderr: error.message };
    if (error instanceof LaunchFailure) {
      return lasting.includes(error.code) ? { ...nothingOf(error.code), stderr: error.message } : faultOf(error);
    }
    const isSilent = error instanceof EngineError && error.status === null;
    if (!(error instanceof EngineError) || (isSilent && this.context.attempt < silentAttempts)) throw error;
    return { fault: "runtime_error", message: error.message };
  }

  async #follow(sandbox: Sandbox, launchedAt: number): Promise<AttemptEnd> {
    const { options, work, context } = this;
    const { now } = options;
    const deadlineAt = launchedAt + work.timeout_ms;
    const seenFull: { room: Room | null } = { room: null };
    const done = new AbortController();
    const endWatch = this.#watch(sandbox, (room) => {
      seenFull.room = room;
      void this.#end(sandbox, 0, done.signal);
    });
    const callOff = callAt(deadlineAt, now, () => void this.#end(sandbox, graceMs, done.signal));
    try {
      const exit = await sandbox.follow(this.instanceId, { signal: context.signal, from: nowhere, onOutput() {} });
      const endedAt = now();
      // Before the end is told: what a command is said to have done is in its volumes, wherever the next one runs.
      const landed = await options.instanceEnded(this.instanceId, context.signal);
      const room = seenFull.room ?? (landed === "no_room" ? landed : null);
      const isFull = room !== null;
      if (isFull || exit.reason === "disk_exceeded") {
        const { tenant } = context.actor;
        const runId = runIdOf(work, context.actor);
        options.recordViolation(writtenTooMuch(tenant, runId, this.instanceId, room, diskBytes[work.kind]));
      }
      return resultOf({ exit, durationMs: endedAt - launchedAt, timedOut: endedAt >= deadlineAt, isFull });
    } finally {
      done.abort();
      callOff();
      endWatch();
    }
  }

  /** Volumes have bounds of their own; the workspace that only this command has is the sandbox's to measure. */
  #watch(sandbox: Sandbox, exceeded: (room: Room) => void): () => void {
    const { options, work, context } = this;
    const plan = {
      mounts: work.mounts,
      filesystem: openFilesystem,
      resources: { ...work.resources, disk_bytes: diskBytes[work.kind], processes: 0 },
    };
    const { tenant } = context.actor;
    const executionId = runIdOf(work, context.actor);
    const hold: Hold = (work) => (sandbox.hold === undefined ? work() : sandbox.hold(this.instanceId, work));
    return options.watchVolumes({ tenant, executionId, plan, hold, exceeded });
  }

  /** Ends it for good, however long the sandbox does not answer. */
  async #end(sandbox: Sandbox, grace: number, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      try {
        return await sandbox.terminate(this.instanceId, grace);
      } catch {
        await later(againMs);
      }
    }
  }

  /** How long sandboxes of the command have run, ms. Of one that was lost: until that was seen, within its time. */
  ranUntil(at: number): number {
    const own = this.#launchedAt === null ? 0 : Math.min(at - this.#launchedAt, this.work.timeout_ms + graceMs);
    return this.ranBefore + Math.max(0, own);
  }

  /** @returns when, Unix ms */
  async note(phase: AttemptRecord["phase"], error: string | null = null): Promise<number> {
    const at = this.options.now();
    const { number, context } = this;
    const ranMs = phase === "failed" ? this.ranUntil(at) : this.ranBefore;
    const record = { executionId: context.actor.key, number, phase, at, error, machine: thisMachine, ranMs };
    await this.attempts.write(this.work.instance_id, record);
    return at;
  }
}

const faultOf = ({ code, message }: LaunchFailure): Fault => ({ fault: code, message });
