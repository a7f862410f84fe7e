/** What one connection has sent and the service has not acknowledged. */
import type { Result } from "../../../../actors/edge/frames.ts";
import { crashPoint } from "../journal/crash-points.ts";
import type { Journal } from "../journal/journal.ts";

interface Sent {
  /** Of a result. */
  readonly commandId: string | null;
  /** Of the steady clock, ms. */
  readonly at: number;
}

/** Frames, and results among them once more, that may wait: more than the journal keeps and all slots can ask for. */
const mostWaiting = 4_096;

export class Outbox {
  /** By number, in order. */
  readonly #sent = new Map<number, Sent>();
  readonly #results = new Set<string>();

  /** @param send puts a signed frame on the connection, and returns its number; null: it is not welcomed, or gone */
  constructor(
    private readonly journal: Journal,
    private readonly send: (t: string, body: object) => number | null,
  ) {}

  started(command_id: string, started_at: string): void {
    this.#keep(this.send("started", { command_id, started_at }), null);
  }

  capabilities(body: object): void {
    this.#keep(this.send("capabilities", body), null);
  }

  /** Sends the result that the journal has of a command; once for each time that it is asked for. */
  async result(commandId: string): Promise<void> {
    if (this.#results.has(commandId)) return;
    this.#results.add(commandId);
    // A disk that cannot be read now may be later: the next connection asks again.
    const result: Result | null = await this.journal.resultOf(commandId).catch(() => null);
    const s = result === null ? null : this.send("result", result);
    if (s === null) {
      // An end before the welcome is asked for again by the welcome.
      this.#results.delete(commandId);
      return;
    }
    this.#keep(s, commandId);
    crashPoint("sent");
  }

  /** @param seq the highest number that the service has committed */
  acknowledged(seq: number): void {
    for (const [s, { commandId }] of this.#sent) {
      if (s > seq) return;
      this.#sent.delete(s);
      if (commandId === null) continue;
      this.#results.delete(commandId);
      void this.journal.acknowledged(commandId);
    }
  }

  /** So much waits for the service that nothing further is to be asked for. */
  get isFull(): boolean {
    return this.#sent.size + this.#results.size >= mostWaiting;
  }

  /** How long the oldest frame has waited, ms. */
  waitingMs(now: number): number {
    const [oldest] = this.#sent.values();
    return oldest === undefined ? 0 : now - oldest.at;
  }

  #keep(s: number | null, commandId: string | null): void {
    if (s !== null) this.#sent.set(s, { commandId, at: performance.now() });
  }
}
