/** A commit with a row of nearly every sort. */
import type { Commit } from "../../../../src/runtime/lane/commit/commit.ts";

const actor = { kind: "counter", key: "a", tenant: "acme" };
const commit: Commit = {
  partitions: [{ partition: 1, epoch: 1, mailboxOffset: "1-0", timeline: "1", outboxSequence: 1, published: 1 }],
  actors: [
    {
      ...actor,
      partition: 1,
      isNew: false,
      version: 1,
      logs: "{}",
      timers: null,
      format: 1,
      listed: null,
      state: "{}",
    },
  ],
  ended: [{ kind: "counter", key: "b" }],
  largeTexts: [],
  logs: [{ kind: "counter", key: "a", log: "events", seq: 1, at: 1, entry: "{}" }],
  outbox: [{ partition: 1, seq: 2, effect: "[]", target: 2, after: 0 }],
  ahead: [],
  behind: [],
  received: [{ partition: 1, source: "p2", seq: 1 }],
  taken: [{ partition: 2, seq: 1 }],
  takenInbox: ["1"],
  activities: [
    { ...actor, id: "new", name: "work", input: "{}", format: 1, replyType: "done", hostBound: false, isKnown: true },
  ],
  settled: ["settled"],
  abandoned: ["given up"],
  timers: [{ ...actor, partition: 1, due: 1, fence: 1, timer: "t", type: "wake", body: "{}" }],
  endedTimers: [{ partition: 1, due: 1, fence: 2, key: "a" }],
  deadLetters: [],
  parked: [],
  unparked: { places: [], activities: [] },
  projections: [],
};

/** It with other members. */
export const commitOf = (members: Partial<Commit> = {}): Commit => ({ ...commit, ...members });
