/** Large results that are there at once, and a reader that takes them one by one (docs/reference/edge-fleet.md). */
import { expect, test } from "bun:test";
import { runWriter } from "../../../../../src/features/edge/fleet/stream/streaming.ts";

test("each event waits for the reader to have taken the one before", async () => {
  const events = Array.from({ length: 100 }, (_, nth) => ({ seq: nth + 1, number: nth + 1 }));
  const shown: number[] = [];
  let unread = 0;
  let mostComposed = 0;
  const stream = {
    closed: false,
    onClose: null,
    comment() {},
    send(id: number) {
      unread += 1;
      expect(unread).toBe(1);
      shown.push(id);
    },
    async drained() {
      unread = 0;
    },
    end() {},
  };
  const run = { logLength: async () => events.length, tail: () => () => {} };
  const write = runWriter({
    runtime: { of: () => ({ at: () => run }) } as never,
    streams: { follow: () => () => {}, page: async () => ({ events, next: 100, more: false }) } as never,
    composer: {
      isOver: async () => true,
      async compose(_tenant, _id, seqs) {
        mostComposed = Math.max(mostComposed, seqs.length);
        return new Map(seqs.map((seq) => [seq, { event: "command_result", data: {}, isLast: seq === events.length }]));
      },
    },
  });
  await write("acme", "r1", 0, stream as never);
  expect(shown).toEqual(events.map(({ number }) => number));
  expect(mostComposed).toBeLessThanOrEqual(32);
});
