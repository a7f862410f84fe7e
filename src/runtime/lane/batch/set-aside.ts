/** What one commit sets aside for nodes that know it, and what it takes back. */
import { type Envelope, encodeEnvelope } from "../../mailbox/envelope.ts";
import type { ParkedPlace } from "../../mailbox/mailbox.ts";
import { encodeNeed, type Need } from "../../versions/knowledge.ts";
import type { ParkedRow } from "../commit/parked.ts";

export class SetAside {
  readonly rows: ParkedRow[] = [];
  /** Actors, as `kind/key`, with messages that wait: later ones wait behind them. */
  readonly blocked = new Set<string>();
  private readonly places: string[] = [];
  private readonly unwanted: string[] = [];

  /** @param need what a node must know; null for a message that only waits behind an earlier one */
  keep(partition: number, envelope: Envelope, need: Need | null): void {
    const { kind, key, tenant, activity } = envelope;
    this.blocked.add(`${kind}/${key}`);
    this.rows.push({
      partition,
      kind,
      key,
      tenant,
      need: need === null ? null : encodeNeed(need),
      content: encodeEnvelope(keptOf(envelope)),
      activity,
    });
  }

  /** A message that waited is done with. */
  takeBack({ seq }: ParkedPlace): void {
    this.places.push(seq);
  }

  /** A turn gave this work up: its outcome may be among what waits. */
  giveUp(activity: string): void {
    this.unwanted.push(activity);
  }

  isUnwanted({ activity }: ParkedPlace): boolean {
    return activity !== null && this.unwanted.includes(activity);
  }

  /** Places of messages that wait no longer, and activities given up whose outcomes may wait. */
  get taken(): { readonly places: readonly string[]; readonly activities: readonly string[] } {
    return { places: this.places, activities: this.unwanted };
  }
}

/** What of a message is kept: for its sender it is taken, and the work whose outcome it is is over. */
export function keptOf({ source, sequence, kind, key, tenant, type, body, replyTo, version }: Envelope): Envelope {
  const names = { source, sequence, kind, key, tenant, type, body, replyTo };
  return { ...names, activity: null, fresh: false, ...(version === undefined ? {} : { version }) };
}
