/**
 * Sends messages to actors: through the mailbox or, where this node holds the actor's partition and nothing has to be
 * kept before the answer, directly to the lane.
 */

import type { Outcome } from "../../../actors/kernel/activity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import { type Address, type AskOptions, MailboxFull, MessageRejected, RuntimeUnavailable } from "../port.ts";
import { retryUntil } from "../timeout.ts";
import type { Calls } from "./calls.ts";
import { addressFault, type Envelope } from "./envelope.ts";
import type { Delivery, MailboxWriter } from "./mailbox.ts";
import { partitionOf } from "./partition.ts";

/** What works on the messages of this node's partitions. */
interface Receiver {
  /** By partition. */
  readonly held: ReadonlyMap<number, unknown>;
  /** Whether a message of a tenant may be handed over in memory. */
  takes(partition: number, tenant: string): boolean;
  deliver(delivery: Delivery): void;
}

export interface SendingOptions {
  readonly node: string;
  readonly partitions: number;
  readonly calls: Calls;
  readonly writer: Pick<MailboxWriter, "send">;
  readonly now: () => number;
  /** Null before the runtime is started. */
  readonly lane: () => Receiver | null;
  /** Whether every node says what it has taken; those of the former version do not. */
  readonly acknowledges: () => boolean;
  readonly crash: (point: "after_append") => void;
}

const defaultAskDeadlineMs = 30_000;

type Content = Pick<Envelope, "type" | "body" | "activity" | "fresh">;

/** What the caller of a message waits for: the actor's reply, word that its turn is committed, or nothing. */
type Awaited = Pick<Envelope, "replyTo" | "acknowledge">;

/** How long a message that was told is remembered where no word of it comes, ms, and how many at most. */
const rememberedMs = 300_000;
const mostRemembered = 10_000;

/** Calls of this node that may wait for their actors; more are refused. */
const mostCalls = 50_000;

const nothing: Awaited = { replyTo: null };
const reply = (replyTo: ReplyTo): Awaited => ({ replyTo });
const acknowledging = (acknowledge: ReplyTo): Awaited => ({ replyTo: null, acknowledge });

interface CallOptions {
  /** What the message asks for; the actor's reply when absent. */
  readonly awaits?: (replyTo: ReplyTo) => Awaited;
  /** Aborted when its caller waits no more. */
  readonly signal?: AbortSignal | undefined;
}

export function sending({ node, partitions, calls, writer, now, lane, acknowledges, crash }: SendingOptions) {
  const source = `n${node}`;
  let sequence = 0;

  // Each member by itself: this runs for each message, and copying members of objects costs several times as much.
  function envelopeOf({ kind, key, tenant, version }: Address, content: Content, awaited: Awaited): Envelope {
    const { type, body, activity, fresh } = content;
    const { replyTo, acknowledge } = awaited;
    const names = { source, sequence: ++sequence, kind, key, tenant, type, body, activity, fresh, replyTo };
    if (acknowledge !== undefined) return { ...names, acknowledge, ...(version === undefined ? {} : { version }) };
    return version === undefined ? names : { ...names, version };
  }

  const faultOf = ({ kind, key, tenant }: Address, type: string) => addressFault(kind, key, tenant, type);

  function checkAddress(to: Address, type: string): void {
    const fault = faultOf(to, type);
    if (fault !== null) throw new MessageRejected(fault);
  }

  const appended = () => crash("after_append");

  async function mail(to: Address, content: Content, awaited: Awaited): Promise<void> {
    checkAddress(to, content.type);
    await writer.send(partitionOf(to.kind, to.key, partitions), envelopeOf(to, content, awaited));
    appended();
  }

  /**
   * Opens a call and sends its message: directly to the lane where that is asked for and possible. A message that may
   * come twice is sent by the mailbox where it was refused, and again where no answer comes.
   */
  function call(
    to: Address,
    content: Content,
    direct: boolean,
    repeatable: boolean,
    deadlineMs: number,
    { awaits = reply, signal }: CallOptions = {},
  ): Promise<Json> {
    const partition = partitionOf(to.kind, to.key, partitions);
    if (calls.size >= mostCalls) return Promise.reject(new MailboxFull(1));
    const receiver = direct ? lane() : null;
    const takes = receiver?.takes(partition, to.tenant) === true;
    // In a mailbox what a tenant has too much of would stand before messages of other tenants.
    if (!takes && !repeatable && receiver?.held.has(partition) === true) return Promise.reject(new MailboxFull(1));
    const fault = faultOf(to, content.type);
    const byMailbox = (replyTo: ReplyTo) => {
      if (!calls.sentByMailbox(replyTo.call)) return;
      const failed = (error: Error) => calls.fail(replyTo.call, error);
      if (fault !== null) failed(new MessageRejected(fault));
      else writer.send(partition, envelopeOf(to, content, awaits(replyTo))).then(appended, failed);
    };
    const { replyTo, answer } = calls.open(deadlineMs, now(), {
      byMailbox: false,
      repeatable,
      acknowledged: false,
      again: repeatable ? byMailbox : null,
    });
    if (receiver === null || fault !== null || !takes) byMailbox(replyTo);
    else receiver.deliver({ partition, id: null, envelope: envelopeOf(to, content, awaits(replyTo)), raw: "" });
    if (signal !== undefined) {
      const leave = () => calls.fail(replyTo.call, signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      const stay = () => signal.removeEventListener("abort", leave);
      answer.then(stay, stay);
    }
    return answer;
  }

  /** Resolves when a commit has taken the message, which may come twice; with nodes that do not say so, when Redis has. */
  async function tellCommitted(to: Address, type: string, body: Json): Promise<void> {
    const content = { type, body, activity: null, fresh: false };
    if (!acknowledges()) return await mail(to, content, nothing);
    checkAddress(to, type);
    await call(to, content, true, true, defaultAskDeadlineMs, {
      awaits: acknowledging,
    });
  }

  /**
   * Resolves when the mailbox took the message. This node remembers it until a commit has taken it, and sends it again
   * should Redis lose it before: under the same name, so that it is taken once.
   */
  async function tell(to: Address, type: string, body: Json): Promise<void> {
    const content = { type, body, activity: null, fresh: false };
    if (!acknowledges() || calls.size >= mostRemembered) {
      await mail(to, content, nothing);
      return;
    }
    const name = { source: `${source}.${++sequence}`, sequence: 1 };
    const send = async (acknowledge: ReplyTo) => {
      const envelope = { ...envelopeOf(to, content, { replyTo: null, acknowledge }), ...name };
      await writer.send(partitionOf(to.kind, to.key, partitions), envelope);
    };
    checkAddress(to, type);
    const { replyTo, answer } = calls.open(rememberedMs, now(), {
      byMailbox: true,
      repeatable: true,
      acknowledged: true,
      // Its caller was told that it is accepted: a mailbox that is full, or away, is tried until it takes the message.
      again: (waiting) =>
        void retryUntil(
          () => send(waiting),
          () => !calls.sentByMailbox(waiting.call),
        ),
    });
    answer.catch(() => {});
    try {
      await send(replyTo);
    } catch (error) {
      calls.settle(replyTo.call, { value: null });
      throw error;
    }
    crash("after_append");
  }

  /**
   * Resolves when the mailbox took it; the activity's row keeps the work until it is committed.
   * @param atHand it may be handed over in memory, where its actor is here; resolves when it is committed then
   */
  async function sendOutcome(to: Address, type: string, outcome: Outcome, atHand = false): Promise<void> {
    const content = { type, body: outcome, activity: outcome.id, fresh: false };
    const isHere = atHand && lane()?.takes(partitionOf(to.kind, to.key, partitions), to.tenant) === true;
    if (!isHere || !acknowledges()) return await mail(to, content, nothing);
    checkAddress(to, type);
    await call(to, content, true, true, defaultAskDeadlineMs, { awaits: acknowledging });
  }

  /** See `AskOptions`. */
  function ask(to: Address, type: string, body: Json, options: AskOptions): Promise<Json> {
    const { fresh = false, unordered = false, repeatable = false, deadlineMs = defaultAskDeadlineMs } = options;
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const content = { type, body, activity: null, fresh: fresh && !repeatable };
    const direct = fresh || unordered || repeatable;
    return call(to, content, direct, repeatable, deadlineMs, { signal });
  }

  /**
   * Has timers of an actor set without a message to it; resolves when that is committed.
   * @throws RuntimeUnavailable where this node does not own the actor's partition, or has enough to do in it
   */
  async function rearm(to: Address, wanted: NonNullable<Delivery["rearm"]>): Promise<void> {
    const { kind, key, tenant } = to;
    const partition = partitionOf(kind, key, partitions);
    const receiver = lane();
    if (receiver === null || !receiver.takes(partition, tenant))
      throw new RuntimeUnavailable("The actor's partition is not at work here");
    const { replyTo, answer } = calls.open(defaultAskDeadlineMs, now(), {
      byMailbox: false,
      repeatable: false,
      acknowledged: false,
      again: null,
    });
    const names = { source, sequence: ++sequence, kind, key, tenant, type: "" };
    const envelope = { ...names, body: null, replyTo, activity: null, fresh: false };
    receiver.deliver({ partition, id: null, envelope, raw: "", rearm: wanted });
    await answer;
  }

  return { tell, tellCommitted, sendOutcome, ask, rearm };
}
