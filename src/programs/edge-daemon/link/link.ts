/**
 * The link: one connection after the other, for as long as the daemon lives. It hands what comes to the executor, and
 * sends what the executor and the journal have to tell.
 */
import { type Capabilities, closes, frameLimits, type Welcome } from "../../../../actors/edge/frames.ts";
import { compareVersions } from "../../../../actors/edge/version.ts";
import type { ServiceClock } from "../clock.ts";
import type { Executor, Reports } from "../executor/executor.ts";
import type { Journal } from "../journal/journal.ts";
import type { DaemonMetrics } from "../metrics.ts";
import type { StateDirectory } from "../state/directory.ts";
import {
  type HostIdentity,
  type HostKey,
  promoteNextKey,
  readIdentity,
  readKey,
  readNextKey,
  replacePins,
} from "../state/identity.ts";
import { BackOff } from "./back-off.ts";
import { Connection, type ConnectionEnd, type HelloFacts } from "./connection.ts";
import { heartbeatAfter } from "./heartbeat.ts";
import { Outbox } from "./outbox.ts";
import { ProgressSender } from "./progress.ts";

export interface LinkParts {
  readonly state: StateDirectory;
  readonly identity: HostIdentity;
  readonly key: HostKey;
  readonly journal: Journal;
  readonly clock: ServiceClock;
  readonly metrics: DaemonMetrics;
  readonly agentVersion: string;
  readonly bootId: string;
  readonly slots: number;
  /** Seconds. */
  readonly reconnect: readonly number[];
  readonly capabilities: () => Capabilities;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: (message: string) => void;
  /** Told of what `status.json` shows. */
  readonly changed: () => void;
}

/** How the link ends for good. */
export type LinkEnd =
  | { readonly kind: "revoked" }
  /** The service takes commands from newer daemons only. */
  | { readonly kind: "outdated"; readonly minVersion: string }
  /** It was told to stop, or to make one connection only. */
  | { readonly kind: "stopped"; readonly wasWelcomed: boolean };

export interface LinkStatus {
  readonly connected: boolean;
  /** Unix ms. */
  readonly since: number;
  readonly epoch: number | null;
  readonly lastHeartbeatAt: number | null;
  readonly lastClose: { readonly code: number; readonly reason: string; readonly at: number } | null;
  readonly lastError: string | null;
  readonly minVersion: string | null;
}

const watchMs = 1_000;
const rescanMs = 600_000;
/** Bytes unsent above which no progress is added. */
const mostUnsent = 1_048_576;

export class Link implements Reports {
  #connection: Connection | null = null;
  #outbox: Outbox | null = null;
  #executor: Executor | null = null;
  readonly #progress: ProgressSender;
  readonly #backOff: BackOff;
  #identity: HostIdentity;
  #key: HostKey;
  /** The next key was refused: the next attempt is with the present one. */
  #isNextRefused = false;
  #isStopped = false;
  #wish: string | null = null;
  #wake: (() => void) | null = null;
  #heartbeat: ReturnType<typeof setTimeout> | null = null;
  #told = "";
  #scannedAt = 0;
  #status: LinkStatus;

  constructor(private readonly parts: LinkParts) {
    this.#identity = parts.identity;
    this.#key = parts.key;
    this.#backOff = new BackOff(parts.reconnect);
    this.#progress = new ProgressSender(
      (command_id, stream, offset, bytes) =>
        this.#connection?.sendUnsigned(
          "progress",
          { command_id, stream, offset, data: Buffer.from(bytes).toString("base64") },
          mostUnsent,
        ) ?? false,
      (bytes) => {
        parts.metrics.outputDropped += bytes;
      },
    );
    this.#status = {
      connected: false,
      since: parts.clock.wall(),
      epoch: null,
      lastHeartbeatAt: null,
      lastClose: null,
      lastError: null,
      minVersion: null,
    };
  }

  get status(): LinkStatus {
    return this.#status;
  }

  started(commandId: string, startedAt: string): void {
    this.#outbox?.started(commandId, startedAt);
  }
  ended(commandId: string): void {
    void this.#outbox?.result(commandId);
  }
  output(...piece: Parameters<Reports["output"]>): void {
    this.#progress.add(...piece);
  }
  flush(commandId: string): void {
    this.#progress.flush(commandId);
  }

  flooded(): void {
    this.#connection?.close(closes.protocol, "too much is not acknowledged");
  }

  /** Tells the service at once that the daemon takes commands, or takes no more. */
  acceptingChanged(): void {
    if (this.#connection?.isWelcomed) this.#beat();
  }

  /** Begins a new connection now, with the files as they are. */
  renew(reason: string): void {
    this.#wish = reason;
    this.#connection?.close(closes.leaving, reason);
    this.#wake?.();
  }

  /** Ends the link; the service is told that the daemon stops. */
  stop(): void {
    this.#isStopped = true;
    this.#connection?.close(closes.stopped, "the daemon stops");
    this.#wake?.();
  }

  /** @param once one connection only */
  async run(executor: Executor, once: boolean): Promise<LinkEnd> {
    this.#executor = executor;
    const watch = setInterval(() => this.#watch(), watchMs);
    try {
      for (let isFirst = true; ; isFirst = false) {
        if (this.#isStopped) return { kind: "stopped", wasWelcomed: false };
        if (!isFirst) this.parts.metrics.reconnects += 1;
        const isNext = this.#chooseKey();
        const end = await this.#connect(isNext);
        const final = this.#finalEnd(end);
        if (final !== null) return final;
        if (once || this.#isStopped) return { kind: "stopped", wasWelcomed: end.welcomedMs > 0 };
        await this.#pause(end, isNext);
      }
    } finally {
      clearInterval(watch);
    }
  }

  /** The next key where there is one; after it was refused, the present one. @returns whether it is the next one */
  #chooseKey(): boolean {
    const { state } = this.parts;
    this.#identity = readIdentity(state) ?? this.#identity;
    const next = readNextKey(state);
    if (next === null || this.#isNextRefused) {
      this.#key = readKey(state) ?? this.#key;
      return false;
    }
    this.#key = next;
    return true;
  }

  async #connect(isNext: boolean): Promise<ConnectionEnd> {
    const { clock, journal, environment } = this.parts;
    const connection: Connection = new Connection(
      new URL(this.#identity.connect_url),
      this.#identity,
      this.#key,
      {
        facts: () => this.#facts(),
        welcomed: (welcome) => this.#welcomed(welcome, isNext),
        invoke: (invoke) => {
          if (clock.hasJumped()) this.renew("the clock of this machine was moved");
          else if (this.#outbox?.isFull) this.flooded();
          else this.#executor?.invoke(invoke);
        },
        cancel: (cancel) => {
          if (this.#outbox?.isFull) this.flooded();
          else this.#executor?.cancel(cancel);
        },
        ack: ({ seq, credit = 0 }) => {
          this.#progress.give(credit);
          this.#outbox?.acknowledged(seq);
        },
      },
      environment,
    );
    this.#wish = null;
    this.#connection = connection;
    this.#outbox = new Outbox(journal, (t, body) => connection.sendSigned(t, body));
    const end = await connection.ended;
    this.#connection = null;
    this.#outbox = null;
    this.#progress.begin(0);
    if (this.#heartbeat !== null) clearTimeout(this.#heartbeat);
    this.#noteEnd(end);
    await this.#executor?.dropUnjournaled();
    return end;
  }

  async #facts(): Promise<HelloFacts> {
    await this.#executor?.dropUnjournaled();
    const { journal, agentVersion, bootId, slots } = this.parts;
    const capabilities = this.parts.capabilities();
    this.#told = JSON.stringify(capabilities);
    this.#scannedAt = this.parts.clock.steady();
    return {
      journal_id: journal.id,
      journal_seq: journal.seq,
      boot_id: bootId,
      agent_version: agentVersion,
      slots,
      capabilities,
      commands: journal.listed(),
    };
  }

  #welcomed(welcome: Welcome, isNext: boolean): void {
    const { clock, log, journal } = this.parts;
    clock.set(welcome.server_time);
    this.#keep(welcome, isNext);
    this.#progress.begin(welcome.output_window);
    this.#status = {
      ...this.#status,
      connected: true,
      since: clock.wall(),
      epoch: welcome.epoch,
      lastError: null,
      minVersion: welcome.min_version,
    };
    log(`connected, epoch ${welcome.epoch}`);
    for (const id of journal.unacknowledged()) void this.#outbox?.result(id);
    this.#beat(welcome);
  }

  /** The service's keys and the host's own, as the welcome makes them. A disk that refuses them keeps the former ones. */
  #keep({ service_keys }: Welcome, isNext: boolean): void {
    const { state, clock, log } = this.parts;
    try {
      this.#identity = replacePins(state, this.#identity, service_keys);
      if (isNext) promoteNextKey(state, clock.wall());
      this.#isNextRefused = false;
    } catch (error) {
      log(`the keys could not be kept: ${String(error)}`);
    }
  }

  #beat(welcome: Pick<Welcome, "heartbeat_ms"> | null = null): void {
    const { clock } = this.parts;
    const executor = this.#executor;
    if (executor === null) return;
    const body = { running: executor.running, accepting: executor.notAccepting.length === 0 };
    if (this.#connection?.sendUnsigned("heartbeat", body)) {
      this.#status = { ...this.#status, lastHeartbeatAt: clock.wall() };
    }
    if (welcome !== null) {
      if (this.#heartbeat !== null) clearTimeout(this.#heartbeat);
      this.#heartbeat = setTimeout(() => this.#beat(welcome), heartbeatAfter(welcome.heartbeat_ms));
    }
    this.parts.changed();
  }

  /** What no frame tells: clocks that came apart, frames that stay unanswered, tools that were installed. */
  #watch(): void {
    const { clock } = this.parts;
    if (!this.#connection?.isWelcomed) return;
    if (clock.hasJumped()) this.renew("the clock of this machine was moved");
    else if ((this.#outbox?.waitingMs(performance.now()) ?? 0) > frameLimits.ackWithinMs)
      this.#connection.close(closes.silent, "not acknowledged");
    else if (clock.steady() - this.#scannedAt >= rescanMs) this.#rescan();
  }

  #rescan(): void {
    const { clock, capabilities } = this.parts;
    this.#scannedAt = clock.steady();
    const now = capabilities();
    if (JSON.stringify(now) === this.#told) return;
    this.#told = JSON.stringify(now);
    this.#outbox?.capabilities(now);
  }

  #noteEnd({ code, reason, welcomedMs }: ConnectionEnd): void {
    const { clock, log, changed } = this.parts;
    const at = clock.wall();
    const isLost = this.#status.connected;
    this.#status = {
      ...this.#status,
      connected: false,
      since: isLost ? at : this.#status.since,
      epoch: null,
      ...(welcomedMs > 0 ? { lastClose: { code, reason, at } } : { lastError: `${code} ${reason}`.trim() }),
    };
    log(`${isLost ? "the connection ended" : "not connected"}: ${code} ${JSON.stringify(reason)}`);
    changed();
  }

  #finalEnd({ isRevoked, code, welcome }: ConnectionEnd): LinkEnd | null {
    if (isRevoked) return { kind: "revoked" };
    const minVersion = welcome?.min_version ?? null;
    if (code !== closes.outdated || minVersion === null) return null;
    return compareVersions(minVersion, this.parts.agentVersion) > 0 ? { kind: "outdated", minVersion } : null;
  }

  async #pause(end: ConnectionEnd, isNext: boolean): Promise<void> {
    const isOwnWish = this.#wish !== null;
    this.#wish = null;
    const isRefused = end.code === closes.notAuthenticated && end.welcomedMs === 0;
    // Each of the two keys has its turn; only when both are refused the wait is long.
    if (isRefused && isNext) this.#isNextRefused = true;
    else if (isRefused) this.#isNextRefused = false;
    const ms = this.#backOff.after({ ...end, isOwnWish: isOwnWish || (isRefused && isNext) });
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
    this.#wake = null;
  }
}
