/** Calls of this node that wait for an actor's reply, or for word that a message was taken. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import { AskTimeout, MessageRejected, RuntimeUnavailable } from "../port.ts";

/** What comes back: a value, or why there is none. */
export type Answer =
  | { readonly value: Json }
  | { readonly rejected: string }
  /** `untaken`: it is certain that no commit took the message. */
  | { readonly unavailable: string; readonly untaken?: true };

/** The answer to a call of this node. */
export interface LocalReply {
  readonly call: string;
  readonly answer: Answer;
}

/** How a call reaches its actor, and with it what the loss of messages and replies in Redis means for it. */
export interface Way {
  /** Whether the message stands, or stood, in a mailbox. */
  byMailbox: boolean;
  /** Whether the message may come twice. */
  readonly repeatable: boolean;
  /** Only word that the message was taken is awaited; its caller waits no more. */
  readonly acknowledged: boolean;
  /** Sends the message by the mailbox once more; it must not throw. Null: the caller is told instead. */
  readonly again: ((replyTo: ReplyTo) => void) | null;
}

interface Waiting {
  resolve(value: Json): void;
  reject(error: Error): void;
  readonly deadlineMs: number;
  /** By `performance.now()`. */
  readonly dueAt: number;
  readonly replyTo: ReplyTo;
  readonly way: Way;
}

/** Starts the names of calls whose node reads replies from its stream; one of the former version listens to a channel. */
const streamed = "~";

export const isStreamedCall = (call: string): boolean => call.startsWith(streamed);

/** A message that may come twice is sent again when it was not answered for this long, ms. */
const askAgainMs = 20_000;

export class Calls {
  private readonly waiting = new Map<string, Waiting>();
  private next = 0;
  /** One timer for all: almost every call is answered long before its deadline. */
  private timer: ReturnType<typeof setTimeout> | null = null;
  private timerAt = Number.POSITIVE_INFINITY;
  private readonly repeating: ReturnType<typeof setInterval>;
  /** Calls that are older than one interval, and may be sent again. */
  private old = new Set<string>();

  constructor(private readonly node: string) {
    this.repeating = setInterval(() => this.askAgain(), askAgainMs);
    this.repeating.unref();
  }

  /** Opens a call. The promise settles by `settle` or at the deadline, whichever is first. */
  open(deadlineMs: number, now: number, way: Way): { replyTo: ReplyTo; answer: Promise<Json> } {
    const call = streamed + (this.next++).toString(36);
    const dueAt = performance.now() + deadlineMs;
    const replyTo = { node: this.node, call, until: now + deadlineMs };
    const answer = new Promise<Json>((resolve, reject) => {
      this.waiting.set(call, { resolve, reject, deadlineMs, dueAt, replyTo, way });
    });
    if (dueAt < this.timerAt) this.wakeAt(dueAt);
    return { replyTo, answer };
  }

  /** A late or repeated answer has no open call and is dropped. */
  settle(call: string, answer: Answer): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    if ("value" in answer) {
      this.waiting.delete(call);
      waiting.resolve(answer.value);
      return;
    }
    const { again, repeatable } = waiting.way;
    if ("unavailable" in answer && again !== null && (repeatable || answer.untaken === true)) {
      again(waiting.replyTo);
      return;
    }
    this.waiting.delete(call);
    if ("rejected" in answer) waiting.reject(new MessageRejected(answer.rejected));
    else waiting.reject(new RuntimeUnavailable(answer.unavailable));
  }

  /** The message was not sent: no answer will come. */
  fail(call: string, error: Error): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    this.waiting.delete(call);
    waiting.reject(error);
  }

  /** Calls that wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** Its message is about to stand in a mailbox; false when the call is over. */
  sentByMailbox(call: string): boolean {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return false;
    waiting.way.byMailbox = true;
    return true;
  }

  /** A node of the former version is there, which does not say what it took: word of it is not awaited any more. */
  forgetAcknowledged(): void {
    for (const [call, { way }] of [...this.waiting]) if (way.acknowledged) this.settle(call, { value: null });
  }

  /**
   * Redis may have lost messages and replies: every call that depended on it is decided. What may come twice is sent
   * again; for the others it is unknown whether the message was taken.
   */
  storeLost(): void {
    for (const [call, { way, replyTo }] of [...this.waiting]) {
      if (way.repeatable && way.again !== null) way.again(replyTo);
      else if (way.byMailbox) this.fail(call, new RuntimeUnavailable("The message store lost its last messages"));
    }
  }

  /** A store is back: what may have been lost on its way there or back is sent again, at once rather than in its turn. */
  storeBack(): void {
    for (const { way, replyTo } of [...this.waiting.values()]) {
      if (way.repeatable && way.again !== null && !way.acknowledged) way.again(replyTo);
    }
  }

  close(): void {
    for (const call of [...this.waiting.keys()]) this.fail(call, new RuntimeUnavailable("This node is shutting down"));
    if (this.timer !== null) clearTimeout(this.timer);
    clearInterval(this.repeating);
  }

  private askAgain(): void {
    const old = new Set<string>();
    for (const [call, { way, replyTo }] of [...this.waiting]) {
      if (!way.repeatable || way.again === null || way.acknowledged) continue;
      old.add(call);
      if (this.old.has(call)) way.again(replyTo);
    }
    this.old = old;
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
