/** One server on this node: its life, its connection, its calls. What is decided is in actors/tool-server/life.ts. */
import {
  type Act,
  bornStopped,
  callWaitMs,
  calmMs,
  drainMs,
  type Life,
  type LifeEvent,
  next,
} from "../../../../actors/tool-server/life.ts";
import type { ListedTool } from "../../../../actors/tool-server/listing.ts";
import type { CallEnd } from "../../../adapters/mcp/port.ts";
import { waitAtMost } from "../../../lib/timers.ts";
import type { InstanceRow, ServerRow } from "../records.ts";
import { Checks } from "./checks.ts";
import type { StoreListing } from "./listing.ts";
import { NoSandbox, type Opened, type OpeningOptions, openServer } from "./opened.ts";
import { CallSlots } from "./slots.ts";

export interface NodeServerOptions extends OpeningOptions {
  readonly nodeId: string;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly store: StoreListing;
  readonly note: (row: InstanceRow) => Promise<void>;
  readonly log: (line: string) => void;
  readonly started: (row: ServerRow) => void;
  /** The tenth fault in a row. */
  readonly gaveUp: (row: ServerRow, error: string) => void;
  /** The stored list is another one. */
  readonly listed: (row: ServerRow) => void;
  readonly failed: (error: unknown) => void;
  /** How long a restart really waits, ms, of what was decided; that when absent. */
  readonly delayOf?: (decidedMs: number) => number;
}

/** What a call came to, or that there is nothing to call. */
export type ServerCallEnd = CallEnd | { readonly kind: "unavailable"; readonly message: string };

export interface ServerCall {
  readonly tool: ListedTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Running {
  readonly opened: Opened;
  readonly instanceId: string;
  readonly startedAt: Date;
  readonly checks: Checks;
  inFlight: number;
}

export class NodeServer {
  #life: Life = bornStopped;
  #running: Running | null = null;
  readonly #draining = new Set<Running>();
  /** The sandbox of a start that is under way. */
  #starting: string | null = null;
  #attempt = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #calmTimer: ReturnType<typeof setTimeout> | undefined;
  #lastHealthAt: Date | null = null;
  #isLegacy = false;
  #noting: Promise<void> = Promise.resolve();
  readonly #changes = new Set<() => void>();
  readonly #work = new Set<Promise<unknown>>();
  readonly #slots = new CallSlots(() => this.row.definition.max_concurrent);

  constructor(
    readonly options: NodeServerOptions,
    /** As it was read last. */
    public row: ServerRow,
  ) {}

  get status(): Life["status"] {
    return this.#life.status;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** Of the connection there is; null: there is none. */
  get stamp(): string | null {
    return this.#running?.opened.stamp ?? null;
  }

  /** Sandboxes that belong to it. */
  get sandboxes(): string[] {
    const held = [...(this.#running === null ? [] : [this.#running]), ...this.#draining].map((one) => one.instanceId);
    return [...held, ...(this.#starting === null ? [] : [this.#starting])];
  }

  want(): void {
    this.#apply({ type: "wanted" });
  }

  /** The definition, its credentials or a person's wish ask for a new connection. */
  renew(row: ServerRow): void {
    this.row = row;
    this.#isLegacy = false;
    this.#apply({ type: "renewed" });
  }

  /** Ends it with everything that it began; nothing of it is left then. */
  async stop(): Promise<void> {
    this.#apply({ type: "unwanted" });
    while (this.#work.size > 0) await Promise.allSettled([...this.#work]);
    await this.#noting;
  }

  /** @throws the signal's reason once it aborts */
  async call(call: ServerCall): Promise<ServerCallEnd> {
    const { tool, signal } = call;
    this.want();
    const first = await this.#callOnce(call);
    const isRepeatable = tool.annotations.readOnlyHint || tool.annotations.idempotentHint;
    if (first.kind !== "lost" || !isRepeatable) return first;
    signal.throwIfAborted();
    const again = await this.#callOnce(call);
    return again.kind === "unavailable" ? first : again;
  }

  async #callOnce({ tool, arguments: args, timeoutMs, signal }: ServerCall): Promise<ServerCallEnd> {
    const leave = await this.#slots.take(signal);
    if (leave === null) return { kind: "unavailable", message: `The tool server ${this.row.name} has too many calls` };
    try {
      const running = await this.#ready(signal);
      if (running === null) return { kind: "unavailable", message: this.#whyAway() };
      running.inFlight += 1;
      try {
        const end = await running.opened.call(tool, args, { timeoutMs, signal });
        return running.opened.masker.redactJson(end);
      } finally {
        running.inFlight -= 1;
        this.#changed();
      }
    } finally {
      leave();
    }
  }

  /** What can be called, waited for a while; null: nothing. */
  async #ready(signal: AbortSignal): Promise<Running | null> {
    const until = performance.now() + callWaitMs;
    const isAway = () => this.#running === null || this.#running.opened.isClosed();
    while (isAway() && !["failed", "stopped"].includes(this.#life.status)) {
      const left = until - performance.now();
      if (left <= 0) return null;
      await waitAtMost(left, this.#nextChange());
      signal.throwIfAborted();
    }
    return isAway() ? null : this.#running;
  }

  #whyAway(): string {
    const { status, lastError } = this.#life;
    return `The tool server ${this.row.name} is ${status}${lastError === null ? "" : `: ${lastError}`}`;
  }

  #apply(event: LifeEvent): void {
    const [life, act] = next(this.#life, event, Math.random());
    const isOther = life !== this.#life;
    this.#life = life;
    this.#do(act);
    if (isOther || act.do !== "nothing") void this.#note();
    this.#changed();
  }

  #do(act: Act): void {
    switch (act.do) {
      case "nothing":
        return;
      case "start":
        this.#drop(0);
        this.#startAfter(this.options.delayOf?.(act.afterMs) ?? act.afterMs);
        return;
      case "replace":
        this.#startAfter(0);
        return;
      case "give_up":
        this.#drop(0);
        this.options.gaveUp(this.row, this.#life.lastError ?? "");
        return;
      case "stop":
        this.#attempt.abort();
        clearTimeout(this.#timer);
        this.#drop(0);
        for (const one of this.#draining) void this.#track(one.opened.close());
    }
  }

  #startAfter(ms: number): void {
    this.#attempt.abort();
    clearTimeout(this.#timer);
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#timer = setTimeout(() => void this.#track(this.#start(attempt.signal)), ms);
  }

  async #start(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { row } = this;
    try {
      const running = await this.#open(row, signal);
      if (signal.aborted) return void (await running.opened.close());
      const old = this.#running;
      this.#running = running;
      if (old !== null) this.#drain(old);
      this.#watch(running);
      this.#apply({ type: "ready" });
      this.options.started(row);
    } catch (error) {
      if (signal.aborted) return;
      // What it took the place of was made by a definition, or by values, that hold no longer.
      this.#drop(drainMs);
      const type = error instanceof NoSandbox ? "no_sandbox" : "lost";
      const words = wordsOf(error);
      this.options.log(`[svc] it could not be started: ${words}`);
      this.#apply({ type, error: words });
    }
  }

  async #open(row: ServerRow, signal: AbortSignal): Promise<Running> {
    const instanceId = this.options.newId();
    this.#starting = instanceId;
    // On record before it runs: what is on no record is taken for a leftover.
    await this.#note();
    const checks = new Checks({
      look: (counts) => this.#track(this.#look(checks, counts)),
      everyMs: () => this.row.definition.health_check.interval_seconds * 1_000,
    });
    try {
      const opened = await this.#openEither(row, instanceId, signal, () => checks.announced());
      try {
        await this.#list(row, opened, checks, listTimeoutMs(row));
      } catch (error) {
        await opened.close();
        throw error;
      }
      return { opened, instanceId, checks, startedAt: new Date(this.options.now()), inFlight: 0 };
    } finally {
      if (this.#starting === instanceId) this.#starting = null;
    }
  }

  async #openEither(row: ServerRow, instanceId: string, signal: AbortSignal, changed: () => void): Promise<Opened> {
    const { log } = this.options;
    const opening = { row, signal, log, changed };
    try {
      return await openServer(this.options, { ...opening, instanceId, era: this.#isLegacy ? "legacy" : "auto" });
    } catch (error) {
      // A program of before may end at the question for its revision: it is not asked again.
      if (this.#isLegacy || row.definition.transport !== "stdio" || error instanceof NoSandbox || signal.aborted)
        throw error;
      const second = this.options.newId();
      this.#starting = second;
      await this.#note();
      const opened = await openServer(this.options, { ...opening, instanceId: second, era: "legacy" });
      this.#isLegacy = true;
      return opened;
    }
  }

  async #list(row: ServerRow, opened: Opened, checks: Checks, timeoutMs: number): Promise<void> {
    checks.begun();
    const listed = await opened.list(timeoutMs);
    const { warnings, isNews } = await this.options.store(row.id, row.generation, opened.protocolVersion, listed);
    if (isNews) for (const warning of warnings) this.options.log(`[svc] ${warning}`);
    if (isNews) this.options.listed(row);
  }

  #watch(running: Running): void {
    this.#lastHealthAt = new Date(this.options.now());
    void running.opened.ended.then((words) => {
      running.checks.stop();
      if (this.#running !== running) return;
      this.#running = null;
      this.#apply({ type: "lost", error: words });
    });
    clearTimeout(this.#calmTimer);
    this.#calmTimer = setTimeout(() => this.#running === running && this.#apply({ type: "calm" }), calmMs);
    this.#calmTimer.unref();
    running.checks.start();
  }

  /** @param counts whether a failure is one of health: what a server announced is looked at beside that */
  async #look(checks: Checks, counts: boolean): Promise<void> {
    const running = this.#running;
    if (running?.checks !== checks) return;
    const { row } = this;
    const timeoutMs = row.definition.health_check.timeout_seconds * 1_000;
    let error: string | null = null;
    try {
      await this.#list(row, running.opened, checks, counts ? timeoutMs : listTimeoutMs(row));
      this.#lastHealthAt = new Date(this.options.now());
    } catch (failure) {
      error = wordsOf(failure);
    }
    if (this.#running !== running || (!counts && error !== null)) return;
    this.#apply({ type: "health", error });
    if (error === null && counts) void this.#note();
  }

  /** Takes the connection away. @param withinMs that what is under way may go on */
  #drop(withinMs: number): void {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    running.checks.stop();
    if (withinMs > 0) this.#drain(running);
    else this.#end(running);
  }

  #drain(old: Running): void {
    old.checks.stop();
    this.#draining.add(old);
    const drained = async () => {
      const until = performance.now() + drainMs;
      while (old.inFlight > 0 && performance.now() < until && this.#life.status !== "stopped") {
        await waitAtMost(until - performance.now(), this.#nextChange());
      }
      await old.opened.close();
      this.#draining.delete(old);
      await this.#note();
    };
    void this.#track(drained());
  }

  #end(running: Running): void {
    this.#draining.add(running);
    void this.#track(
      running.opened.close().then(() => {
        this.#draining.delete(running);
        return this.#note();
      }),
    );
  }

  #track<T>(work: Promise<T>): Promise<T | undefined> {
    const done = work.catch((error: unknown) => {
      this.options.failed(error);
      return undefined;
    });
    this.#work.add(done);
    void done.finally(() => this.#work.delete(done));
    return done;
  }

  /** One after the other: an older state never overwrites a newer one. */
  #note(): Promise<void> {
    this.#noting = this.#noting.then(async () => {
      const { options, row } = this;
      const { status, restarts, lastError } = this.#life;
      await options
        .note({
          server_id: row.id,
          node_id: options.nodeId,
          status,
          pid: this.#running?.opened.pid ?? null,
          restarts,
          last_error: lastError?.slice(0, 1_000) ?? null,
          unenforced: this.#running?.opened.unenforced ?? [],
          sandboxes: this.sandboxes,
          started_at: this.#running?.startedAt ?? null,
          last_health_at: this.#lastHealthAt,
        })
        .catch(options.failed);
    });
    return this.#noting;
  }

  #changed(): void {
    const waiting = [...this.#changes];
    this.#changes.clear();
    for (const wake of waiting) wake();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#changes.add(resolve));
  }
}

const listTimeoutMs = ({ definition }: ServerRow): number =>
  Math.max(10_000, definition.health_check.timeout_seconds * 1_000);
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
