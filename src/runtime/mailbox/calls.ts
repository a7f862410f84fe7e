/** Calls of this node that wait for an actor's reply. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import { AskTimeout, MessageRejected, RuntimeUnavailable } from "../port.ts";

/** What comes back: a value, or why there is none. */
export type Answer = { readonly value: Json } | { readonly rejected: string } | { readonly unavailable: string };

interface Waiting {
  resolve(value: Json): void;
  reject(error: Error): void;
  readonly deadlineMs: number;
  /** By `performance.now()`. */
  readonly dueAt: number;
}

export class Calls {
  private readonly waiting = new Map<string, Waiting>();
  private next = 0;
  /** One timer for all: almost every call is answered long before its deadline. */
  private timer: ReturnType<typeof setTimeout> | null = null;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(private readonly node: string) {}

  /** Opens a call. The promise settles by `settle` or at the deadline, whichever is first. */
  open(deadlineMs: number, now: number): { replyTo: ReplyTo; answer: Promise<Json> } {
    const call = (this.next++).toString(36);
    const dueAt = performance.now() + deadlineMs;
    const answer = new Promise<Json>((resolve, reject) => {
      this.waiting.set(call, { resolve, reject, deadlineMs, dueAt });
    });
    if (dueAt < this.timerAt) this.wakeAt(dueAt);
    return { replyTo: { node: this.node, call, until: now + deadlineMs }, answer };
  }

  /** A late or repeated answer has no open call and is dropped. */
  settle(call: string, answer: Answer): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    this.waiting.delete(call);
    if ("value" in answer) waiting.resolve(answer.value);
    else if ("rejected" in answer) waiting.reject(new MessageRejected(answer.rejected));
    else waiting.reject(new RuntimeUnavailable(answer.unavailable));
  }

  /** The message was not sent: no answer will come. */
  fail(call: string, error: Error): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    this.waiting.delete(call);
    waiting.reject(error);
  }

  close(): void {
    for (const call of [...this.waiting.keys()]) this.fail(call, new RuntimeUnavailable("This node is shutting down"));
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private wakeAt(at: number): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timerAt = at;
    this.timer = setTimeout(() => this.expire(), Math.max(0, Math.ceil(at - performance.now())));
    this.timer.unref();
  }

  /** Fails what is due, and looks again when the next one is. */
  private expire(): void {
    this.timer = null;
    this.timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [call, { dueAt, deadlineMs }] of this.waiting) {
      if (dueAt <= now) this.fail(call, new AskTimeout(`No answer within ${deadlineMs} ms`));
      else next = Math.min(next, dueAt);
    }
    if (next < Number.POSITIVE_INFINITY) this.wakeAt(next);
  }
}
