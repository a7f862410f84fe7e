/**
 * Server-sent events: what every stream of this node shares, whatever it carries.
 *
 * One timer keeps all streams alive (a comment every 15 s) and watches over them: a stream older than
 * 24 h is closed, a reader that takes nothing for two minutes is cut off. A slow reader is cut off once
 * more than 1 MiB waits for it; clients resume by id, so nothing is lost.
 *
 * Built on Bun's direct streams: measured here, an idle one costs 8 KB where a queueing one costs 12,
 * and `write` tells by a promise that the socket does not keep up.
 */
import { Problem } from "../../actors/problem.ts";
import type { Incoming } from "./route.ts";

const keepAliveMs = 15_000;
const longestMs = 24 * 3600 * 1000;
/** Bytes that may wait for a slow reader. */
const unsentLimit = 1024 * 1024;
/** How long a reader may take nothing while something waits for it. */
const stallMs = 120_000;
const perTenant = 200;
/** Seconds of silence after which Bun cuts the connection; reached only when keep-alives fail. */
const idleSeconds = 120;

const headers = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
} as const;

/** Bun's controller of a direct stream. `write` gives a promise while the socket does not keep up. */
interface DirectController {
  write(chunk: string): number | Promise<number>;
  flush(): unknown;
  end(): unknown;
}

/** An open stream, as its source sees it. */
export class EventStream {
  /** Called once when the stream ends, for whatever reason. */
  onClose: (() => void) | null = null;
  readonly openedAt = Date.now();
  /** Since when the reader has not taken what was written; null while it keeps up. */
  stalledAt: number | null = null;
  #closed = false;
  #started = false;
  #unsent = 0;
  #drained: Promise<void> | null = null;
  readonly #controller: DirectController;
  readonly #finish: (cutBy?: Error) => void;

  /** @param finish ends the connection; at once when an error is given */
  constructor(controller: DirectController, finish: (cutBy?: Error) => void) {
    this.#controller = controller;
    this.#finish = finish;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends one event.
   * @param id   ascending; what a client resumes from
   * @param data one line
   */
  send(id: number, data: string): void {
    this.#write(`${this.#started ? "" : "retry: 3000\n"}id: ${id}\ndata: ${data}\n\n`);
    this.#started = true;
  }

  /** Sends a line that clients ignore; not to a reader that has enough to read already. */
  comment(text: string): void {
    if (this.#drained === null) this.#write(`: ${text}\n\n`);
  }

  /** Resolves when the reader has taken everything written so far, or is gone. */
  async drained(): Promise<void> {
    while (this.#drained !== null && !this.#closed) await this.#drained;
  }

  /** Ends the stream after what was written. Repeatable. */
  end(): void {
    if (this.#closed) return;
    this.#controller.end();
    this.#close();
  }

  /** Cuts the connection; what was not taken is dropped. Repeatable. */
  cut(reason: string): void {
    this.#close(new Error(reason));
  }

  /** The reader is gone. Repeatable. */
  release(): void {
    this.#close();
  }

  #close(cutBy?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onClose?.();
    this.onClose = null;
    this.#finish(cutBy);
  }

  #write(text: string): void {
    if (this.#closed) return;
    const written = this.#controller.write(text);
    this.#controller.flush();
    if (typeof written === "number") return;
    this.#unsent += Buffer.byteLength(text);
    this.stalledAt ??= Date.now();
    const settle = () => this.#settled(drained);
    const drained: Promise<void> = written.then(settle, settle);
    this.#drained = drained;
    if (this.#unsent > unsentLimit) this.cut("the reader is too slow");
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
  readonly #open = new Set<EventStream>();
  readonly #tenants = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | null = null;
  #stopping: AbortSignal | null = null;

  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens a stream.
   * @param source writes to it until it closes; what it throws cuts the connection
   * @throws Problem 429 `too_many_streams` when the tenant has 200 open on this node
   */
  open(
    { request, server, stopping }: Pick<Incoming, "request" | "server" | "stopping">,
    tenant: string,
    source: (stream: EventStream) => Promise<void>,
  ): Response {
    if ((this.#tenants.get(tenant) ?? 0) >= perTenant) {
      const message = `At most ${perTenant} streams may be open at once`;
      throw new Problem("too_many_streams", message, { limit: perTenant }, { "Retry-After": "5" });
    }
    server?.timeout(request, idleSeconds);
    this.#obey(stopping);
    let stream: EventStream | null = null;
    const pull = (controller: DirectController) =>
      // Settles when the connection ends: Bun takes that as the end of the body, a rejection as a cut.
      new Promise<void>((resolve, reject) => {
        stream = new EventStream(controller, (cutBy) => {
          if (stream) this.#leave(stream, tenant);
          if (cutBy) reject(cutBy);
          else resolve();
        });
        this.#enter(stream, tenant);
        source(stream).catch((error: unknown) => stream?.cut(error instanceof Error ? error.message : "failed"));
      });
    // Bun's own kind of source, which the standard's types do not know.
    const direct = { type: "direct", pull, cancel: () => stream?.release() } as unknown as UnderlyingDefaultSource;
    return new Response(new ReadableStream(direct), { headers });
  }

  #enter(stream: EventStream, tenant: string): void {
    this.#open.add(stream);
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.#tick(), keepAliveMs);
  }

  #leave(stream: EventStream, tenant: string): void {
    this.#open.delete(stream);
    const left = (this.#tenants.get(tenant) ?? 1) - 1;
    if (left > 0) this.#tenants.set(tenant, left);
    else this.#tenants.delete(tenant);
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
    const now = Date.now();
    for (const stream of [...this.#open]) {
      if (now - stream.openedAt > longestMs) stream.end();
      else if (stream.stalledAt !== null && now - stream.stalledAt > stallMs) stream.cut("the reader takes nothing");
      else stream.comment("keep-alive");
    }
  }
}
