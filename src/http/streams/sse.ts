/**
 * Server-sent events: what every stream of this node shares.
 *
 * One timer keeps all streams alive (a comment every 15 s) and watches over them: a stream older than
 * 24 h is closed, a reader that takes nothing for two minutes is cut off. A slow reader is cut off when
 * more is to be sent while over 1 MiB waits for it; clients resume by id, so nothing is lost. A reader whose
 * machine vanished goes when the kernel gives up repeating a keep-alive (Linux: `tcp_retries2`, about 15 min).
 *
 * Built on Bun's direct streams: measured here, an idle one costs 8 KB where a queueing one costs 12,
 * and `write` tells by a promise that the socket does not keep up.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Call } from "../route.ts";
import { type Holder, holderOf } from "./holders.ts";
import type { TenantCounts } from "./tenant-counts.ts";

const keepAliveMs = 15_000;
const longestMs = 24 * 3600 * 1000;
/** Bytes that may wait for a slow reader. */
const unsentLimit = 1024 * 1024;
/** How long a reader may take nothing while something waits for it. */
const stallMs = 120_000;
/** Streams that a tenant may have open, over all nodes. */
const perTenant = 200;
/** Seconds of silence after which Bun cuts the connection; reached only when keep-alives fail. */
const idleSeconds = 120;

const headersOf = (format: StreamFormat) => ({
  "Content-Type": `${format === "sse" ? "text/event-stream" : "application/x-ndjson"}; charset=utf-8`,
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
});

/** Server-sent events, or one JSON object a line. */
export type StreamFormat = "sse" | "ndjson";

export interface StreamOptions {
  readonly format?: StreamFormat;
  /** Beside those of every stream. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bun's controller of a direct stream. `write` gives a promise while the socket does not keep up. */
interface DirectController {
  write(chunk: string): number | Promise<number>;
  flush(): unknown;
  end(): unknown;
}

/** Counts the open streams. */
interface Counter {
  enter(stream: EventStream): void;
  leave(stream: EventStream): void;
}

/**
 * An open stream, as its source sees it. It is also what Bun reads from: thousands may be open, so one
 * object is all that each of them costs here.
 */
export class EventStream {
  /** Marks Bun's own kind of source. */
  readonly type = "direct";
  /** Called once when the stream ends, for any reason. */
  onClose: (() => void) | null = null;
  /** This and the next by `performance.now()`. */
  readonly openedAt = performance.now();
  /** Since when the reader has not taken what was written; null while it keeps up. */
  stalledAt: number | null = null;
  #closed = false;
  #started = false;
  #unsent = 0;
  #drained: Promise<void> | null = null;
  #controller: DirectController | null = null;
  #settle: PromiseWithResolvers<void> | null = null;
  #source: ((stream: EventStream) => Promise<void>) | null;
  readonly #counter: Counter;

  constructor(
    readonly holder: Holder,
    source: (stream: EventStream) => Promise<void>,
    counter: Counter,
    private readonly format: StreamFormat = "sse",
  ) {
    this.#source = source;
    this.#counter = counter;
  }

  get tenant(): string {
    return this.holder.tenant;
  }

  /** Called by Bun when the head of the answer is out. What it returns settles when the body is over. */
  pull(controller: DirectController): Promise<void> {
    const source = this.#source;
    this.#source = null;
    this.#controller = controller;
    const settle = Promise.withResolvers<void>();
    this.#settle = settle;
    this.#counter.enter(this);
    source?.(this).catch((error: unknown) => this.cut(error instanceof Error ? error.message : "failed"));
    return settle.promise;
  }

  /** Called by Bun when the reader is gone. */
  cancel(): void {
    this.#close();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends one event.
   * @param id   ascending; what a client resumes from
   * @param data one line
   * @param event its name; null: events of this stream have none. Lines of JSON have one always
   */
  send(id: number, data: string, event: string | null = null): void {
    if (this.format === "ndjson") {
      this.#write(`{"id":${id},"event":${JSON.stringify(event)},"data":${data}}\n`);
      return;
    }
    const named = event === null ? "" : `event: ${event}\n`;
    this.#write(`${this.#started ? "" : "retry: 3000\n"}id: ${id}\n${named}data: ${data}\n\n`);
    this.#started = true;
  }

  /** Says what to resume from, without an event. Lines of JSON have no such thing. */
  position(id: number): void {
    if (this.format === "sse") this.#write(`id: ${id}\n\n`);
  }

  /** Sends a line that clients ignore; not to a reader that has enough to read already. */
  comment(text: string): void {
    if (this.#drained === null) this.#write(this.format === "ndjson" ? "\n" : `: ${text}\n\n`);
  }

  /** Resolves when the reader has taken everything written so far, or is gone. */
  async drained(): Promise<void> {
    while (this.#drained !== null && !this.#closed) await this.#drained;
  }

  /** Ends the stream after what was written. Repeatable. */
  end(): void {
    if (this.#closed) return;
    this.#controller?.end();
    this.#close();
  }

  /** Cuts the connection; what was not taken is dropped. Repeatable. */
  cut(reason: string): void {
    this.#close(new Error(reason));
  }

  #close(cutBy?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onClose?.();
    this.onClose = null;
    this.#source = null;
    // A stream that was never pulled was never counted.
    if (this.#settle === null) return;
    this.#counter.leave(this);
    // A rejection makes Bun cut the connection; otherwise the body ends.
    if (cutBy) this.#settle.reject(cutBy);
    else this.#settle.resolve();
  }

  #write(text: string): void {
    if (this.#closed || this.#controller === null) return;
    // Judged before the next one, not after it: one event alone may be larger, and must have its chance to arrive.
    if (this.#unsent > unsentLimit) {
      this.cut("the reader is too slow");
      return;
    }
    const written = this.#controller.write(text);
    this.#controller.flush();
    if (typeof written === "number") return;
    this.#unsent += Buffer.byteLength(text);
    this.stalledAt ??= performance.now();
    const settle = () => this.#settled(drained);
    const drained: Promise<void> = written.then(settle, settle);
    this.#drained = drained;
  }

  #settled(drained: Promise<void>): void {
    // The socket takes in order: what was written before the latest has gone, too.
    if (this.#drained !== drained) return;
    this.#drained = null;
    this.#unsent = 0;
    this.stalledAt = null;
  }
}

/** Every open stream of this node. */
export class EventStreams {
  /** Between two comments that keep a silent stream alive; 15,000 when absent. */
  readonly #keepAliveMs: number;
  readonly #open = new Set<EventStream>();
  readonly #tenants = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | null = null;
  #stopping: AbortSignal | null = null;
  /** Streams that are being opened. */
  readonly #opening = new Map<string, number>();
  /** Null: this node counts its own alone. */
  readonly #counts: TenantCounts | null;
  readonly #counter: Counter = {
    enter: (stream) => {
      this.#open.add(stream);
      this.#tenants.set(stream.tenant, (this.#tenants.get(stream.tenant) ?? 0) + 1);
      this.#timer ??= setInterval(() => this.#tick(), this.#keepAliveMs);
    },
    leave: (stream) => this.#leave(stream),
  };

  constructor(
    options: {
      readonly keepAliveMs?: number;
      /** @param own the open streams of this node, by tenant */
      readonly counts?: (own: () => ReadonlyMap<string, number>) => TenantCounts;
    } = {},
  ) {
    this.#keepAliveMs = options.keepAliveMs ?? keepAliveMs;
    this.#counts = options.counts?.(() => this.#tenants) ?? null;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Those that are open now. */
  held(): readonly EventStream[] {
    return [...this.#open];
  }

  /**
   * Opens a stream.
   * @param source writes to it until it closes; what it throws cuts the connection
   * @throws Problem 429 `too_many_streams` when the tenant has 200 open over all nodes
   */
  async open(
    { request, server, stopping, identity }: Pick<Call, "request" | "server" | "stopping" | "identity">,
    tenant: string,
    source: (stream: EventStream) => Promise<void>,
    { format = "sse", headers = {} }: StreamOptions = {},
  ): Promise<Response> {
    if (!(await this.#hasRoom(tenant))) {
      const message = `At most ${perTenant} streams of a tenant may be open at once`;
      throw new Problem("too_many_streams", message, { limit: perTenant }, { "Retry-After": "5" });
    }
    server?.timeout(request, idleSeconds);
    this.#obey(stopping);
    const stream = new EventStream(holderOf(identity, tenant), source, this.#counter, format);
    // Bun's own kind of source, which the standard's types do not know.
    return new Response(new ReadableStream(stream as unknown as UnderlyingDefaultSource), {
      headers: { ...headersOf(format), ...headers },
    });
  }

  async #hasRoom(tenant: string): Promise<boolean> {
    const opening = this.#opening.get(tenant) ?? 0;
    const own = (this.#tenants.get(tenant) ?? 0) + opening;
    if (own >= perTenant) return false;
    if (this.#counts === null) return true;
    this.#opening.set(tenant, opening + 1);
    try {
      return await this.#counts.take(tenant, own, perTenant);
    } finally {
      const left = (this.#opening.get(tenant) ?? 1) - 1;
      if (left > 0) this.#opening.set(tenant, left);
      else this.#opening.delete(tenant);
    }
  }

  #leave(stream: EventStream): void {
    this.#open.delete(stream);
    this.#counts?.left(stream.tenant);
    const left = (this.#tenants.get(stream.tenant) ?? 1) - 1;
    if (left > 0) this.#tenants.set(stream.tenant, left);
    else this.#tenants.delete(stream.tenant);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Streams end when the node leaves; their clients resume elsewhere. */
  #obey(stopping: AbortSignal): void {
    if (this.#stopping === stopping) return;
    this.#stopping = stopping;
    stopping.addEventListener("abort", () => {
      for (const stream of [...this.#open]) stream.end();
    });
  }

  #tick(): void {
    const now = performance.now();
    for (const stream of [...this.#open]) {
      if (now - stream.openedAt > longestMs) stream.end();
      else if (stream.stalledAt !== null && now - stream.stalledAt > stallMs) stream.cut("the reader takes nothing");
      else stream.comment("keep-alive");
    }
  }
}
