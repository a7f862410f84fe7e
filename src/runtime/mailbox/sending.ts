/**
 * Sends messages to actors: through the mailbox or, where this node holds the actor's partition and nothing has to be
 * kept before the answer, directly to the lane.
 */

import type { Outcome } from "../../../actors/kernel/activity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { type Address, type AskOptions, MessageRejected, RuntimeUnavailable } from "../port.ts";
import type { Calls } from "./calls.ts";
import { addressFault, type Envelope } from "./envelope.ts";
import type { Delivery, MailboxWriter } from "./mailbox.ts";
import { partitionOf } from "./partition.ts";

/** What works on the messages of this node's partitions. */
interface Receiver {
  /** Whether it works on the partition and has room for another message of the tenant. */
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
  readonly crash: (point: "after_append") => void;
}

const defaultAskDeadlineMs = 30_000;

export function sending({ node, partitions, calls, writer, now, lane, crash }: SendingOptions) {
  const source = `n${node}`;
  let sequence = 0;

  async function send(
    to: Address,
    message: Pick<Envelope, "type" | "body" | "replyTo" | "activity" | "fresh">,
  ): Promise<void> {
    const fault = addressFault(to.kind, to.key, to.tenant, message.type);
    if (fault !== null) throw new MessageRejected(fault);
    const envelope: Envelope = {
      source,
      sequence: ++sequence,
      kind: to.kind,
      key: to.key,
      tenant: to.tenant,
      ...message,
      ...(to.version === undefined ? {} : { version: to.version }),
    };
    await writer.send(partitionOf(to.kind, to.key, partitions), envelope);
    crash("after_append");
  }

  const tell = (to: Address, type: string, body: Json) =>
    send(to, { type, body, replyTo: null, activity: null, fresh: false });

  const sendOutcome = (to: Address, type: string, outcome: Outcome) =>
    send(to, { type, body: outcome, replyTo: null, activity: outcome.id, fresh: false });

  function askByMailbox(
    to: Address,
    type: string,
    body: Json,
    deadlineMs = defaultAskDeadlineMs,
    fresh = false,
  ): Promise<Json> {
    const { replyTo, answer } = calls.open(deadlineMs, now());
    send(to, { type, body, replyTo, activity: null, fresh }).catch((error: Error) => calls.fail(replyTo.call, error));
    return answer;
  }

  /**
   * Until it is answered nothing was accepted. So where the actor's partition is held here, a message that need not
   * keep its place behind others needs no mailbox.
   */
  function askDirect(
    to: Address,
    type: string,
    body: Json,
    deadlineMs = defaultAskDeadlineMs,
    fresh = false,
  ): Promise<Json> {
    const { kind, key, tenant } = to;
    const partition = partitionOf(kind, key, partitions);
    const receiver = lane();
    const fault = addressFault(kind, key, tenant, type);
    if (fault !== null || receiver === null || !receiver.takes(partition, tenant))
      return askByMailbox(to, type, body, deadlineMs, fresh);
    const { replyTo, answer } = calls.open(deadlineMs, now());
    const envelope = {
      source,
      sequence: ++sequence,
      kind,
      key,
      tenant,
      type,
      body,
      replyTo,
      activity: null,
      fresh,
      ...(to.version === undefined ? {} : { version: to.version }),
    };
    receiver.deliver({ partition, id: null, envelope, raw: "" });
    return answer;
  }

  /** For messages that may come twice: sent directly and, where that is refused, through the mailbox. */
  async function askRepeatable(to: Address, type: string, body: Json, deadlineMs?: number): Promise<Json> {
    try {
      return await askDirect(to, type, body, deadlineMs);
    } catch (error) {
      if (!(error instanceof RuntimeUnavailable)) throw error;
      return askByMailbox(to, type, body, deadlineMs);
    }
  }

  /** See `AskOptions`. */
  function ask(to: Address, type: string, body: Json, options: AskOptions): Promise<Json> {
    const { fresh = false, unordered = false, repeatable = false, deadlineMs } = options;
    if (repeatable) return askRepeatable(to, type, body, deadlineMs);
    if (fresh || unordered) return askDirect(to, type, body, deadlineMs, fresh);
    return askByMailbox(to, type, body, deadlineMs);
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
    const { replyTo, answer } = calls.open(defaultAskDeadlineMs, now());
    const names = { source, sequence: ++sequence, kind, key, tenant, type: "" };
    const envelope = { ...names, body: null, replyTo, activity: null, fresh: false };
    receiver.deliver({ partition, id: null, envelope, raw: "", rearm: wanted });
    await answer;
  }

  return { tell, sendOutcome, ask, rearm };
}
