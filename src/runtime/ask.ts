/** Calls of this node that wait for an actor's reply. */
import type { Json, ReplyTo } from "../../actors/actor.ts";
import { AskTimeout, MessageRejected, RuntimeUnavailable } from "./port.ts";

/** What comes back: a value, or why there is none. */
export type Answer = { readonly value: Json } | { readonly rejected: string } | { readonly unavailable: string };

interface Waiting {
  resolve(value: Json): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

export class Calls {
  private readonly waiting = new Map<string, Waiting>();
  private next = 0;

  constructor(private readonly node: string) {}

  /** Opens a call. The promise settles by `settle` or at the deadline, whichever is first. */
  open(deadlineMs: number, now: number): { replyTo: ReplyTo; answer: Promise<Json> } {
    const call = (this.next++).toString(36);
    const answer = new Promise<Json>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(call);
        reject(new AskTimeout(`No answer within ${deadlineMs} ms`));
      }, deadlineMs);
      this.waiting.set(call, { resolve, reject, timer });
    });
    return { replyTo: { node: this.node, call, until: now + deadlineMs }, answer };
  }

  /** A late or repeated answer finds nobody waiting and is dropped. */
  settle(call: string, answer: Answer): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    this.waiting.delete(call);
    clearTimeout(waiting.timer);
    if ("value" in answer) waiting.resolve(answer.value);
    else if ("rejected" in answer) waiting.reject(new MessageRejected(answer.rejected));
    else waiting.reject(new RuntimeUnavailable(answer.unavailable));
  }

  /** The message never left: nobody will answer. */
  fail(call: string, error: Error): void {
    const waiting = this.waiting.get(call);
    if (waiting === undefined) return;
    this.waiting.delete(call);
    clearTimeout(waiting.timer);
    waiting.reject(error);
  }

  close(): void {
    for (const call of [...this.waiting.keys()]) this.fail(call, new RuntimeUnavailable("This node is shutting down"));
  }
}
