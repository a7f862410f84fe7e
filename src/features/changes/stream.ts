/** The changes of a tenant's records as a stream: what was missed since a place, then what happens. */
import type { ChangeType } from "../../../actors/change/change.ts";
import type { Gap, GapReason, NumberedChange } from "../../../actors/change/unread.ts";
import type { EventStream } from "../../http/streams/sse.ts";
import type { Feeds } from "./feeds.ts";

export interface ChangeStreamOptions {
  readonly tenant: string;
  readonly types: ReadonlySet<ChangeType>;
  /** Where every change from now on lies behind. */
  readonly ready: number;
  /** To resume behind; null: from now on. */
  readonly after: Place | null;
}

/** The number of an event; `unknown`: what was given as its id is none. */
export type Place = number | "unknown";

/** Writes until the reader leaves, or the stream is ended. */
export async function streamChanges(
  feeds: Pick<Feeds, "follow" | "page">,
  { tenant, types, ready, after }: ChangeStreamOptions,
  stream: EventStream,
): Promise<void> {
  let news = Promise.withResolvers<void>();
  const { unread, from, leave } = feeds.follow(tenant, types, ready, () => news.resolve());
  stream.onClose = () => {
    leave();
    news.resolve();
  };
  if (stream.closed) return leave();
  stream.comment("open");
  stream.position(after === null || after === "unknown" ? from : Math.min(after, from));
  if (after === "unknown") send(stream, gapAt(from, "expired"));
  else await sendMissed(feeds, { tenant, types, after: after ?? ready, isResumed: after !== null, from }, stream);
  while (!stream.closed) {
    for (const one of unread.take()) send(stream, one);
    // What comes while the reader takes this waits in `unread`, the newest of each record.
    await stream.drained();
    if (stream.closed) return;
    if (unread.isEmpty) await news.promise;
    news = Promise.withResolvers<void>();
  }
}

interface Missed extends Pick<ChangeStreamOptions, "tenant" | "types"> {
  readonly after: number;
  readonly isResumed: boolean;
  /** What is behind this number comes by itself. */
  readonly from: number;
}

async function sendMissed(feeds: Pick<Feeds, "page">, missed: Missed, stream: EventStream): Promise<void> {
  const { tenant, types, isResumed, from } = missed;
  if (missed.after >= from && !isResumed) return;
  for (let after = missed.after; ; ) {
    const page = await feeds.page(tenant, after);
    if (page === null || after < page.floor || after > Math.max(page.last, from)) {
      send(stream, gapAt(from, "expired"));
      return;
    }
    const isLost = missed.after < page.lost;
    for (const change of page.changes) if (change.number <= from && types.has(change.type)) send(stream, change);
    await stream.drained();
    if (stream.closed) return;
    after = page.next;
    if (page.more && after < from) continue;
    if (isLost) send(stream, gapAt(Math.max(from, page.lost), "lost"));
    return;
  }
}

const gapAt = (number: number, gap: GapReason): Gap => ({ number, gap });

function send(stream: EventStream, one: NumberedChange | Gap): void {
  if ("gap" in one) stream.send(one.number, JSON.stringify({ reason: one.gap }), "gap");
  else stream.send(one.number, one.text);
}
