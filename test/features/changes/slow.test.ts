/** A follower that takes nothing for a while (docs/reference/events-stream.md). */
import { expect, test } from "bun:test";
import { createFeeds } from "../../../src/features/changes/feeds.ts";
import type { ChangePage } from "../../../src/features/changes/store.ts";
import { streamChanges } from "../../../src/features/changes/stream.ts";
import type { EventStream } from "../../../src/http/streams/sse.ts";
import { until } from "../../harness/until.ts";

/** A stream whose reader takes what was sent when it is told to. */
function slowStream() {
  const sent: string[] = [];
  let untaken: PromiseWithResolvers<void> | null = null;
  const stream = {
    closed: false,
    onClose: null,
    comment() {},
    position() {},
    send(id: number, data: string, event: string | null = null) {
      sent.push(`${id} ${event ?? data}`);
      untaken ??= Promise.withResolvers<void>();
    },
    drained: () => untaken?.promise ?? Promise.resolve(),
  };
  return {
    sent,
    // Of a stream no more is used.
    stream: stream as unknown as EventStream,
    take() {
      untaken?.resolve();
      untaken = null;
    },
  };
}

test("a reader that is too slow gets a gap, then what comes after it", async () => {
  const told: { number: number; id: string }[] = [];
  const page = (after: number): ChangePage => {
    const changes = told
      .filter(({ number }) => number > after)
      .map(({ number, id }) => ({ type: "run" as const, number, record: `run ${id}`, text: id }));
    return { floor: 0, lost: 0, last: told.length, changes, next: changes.at(-1)?.number ?? after, more: false };
  };
  const feeds = createFeeds({
    store: {
      follow: async () => ({ last: 0 }),
      read: async (_, after) => page(after),
      lose: async () => {},
    },
    watched: { follow: async () => {} },
    warn: () => {},
  });
  const { sent, stream, take } = slowStream();
  const ready = await feeds.ready("north");
  void streamChanges(feeds, { tenant: "north", types: new Set(["run"]), ready, after: null }, stream);
  const tell = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) told.push({ number, id: `r${number}` });
    feeds.heard("north");
    await until(() => feeds.lastOf("north") === to, { what: `change ${to} to be read` });
  };
  await tell(1, 1);
  await until(() => sent.length === 1);
  await tell(2, 1500);
  take();
  await until(() => sent.length > 1);
  await tell(1501, 1501);
  take();
  await until(() => sent.at(-1) === "1501 r1501", { what: "the newest" });
  const gaps = sent.filter((one) => one.endsWith(" gap"));
  expect([sent[0], gaps.length, sent[1]]).toEqual(["1 r1", 1, "1002 gap"]);
  expect(sent.length).toBeLessThanOrEqual(1 + 1 + 1001);
});
