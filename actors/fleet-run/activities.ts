/** What a run has done for it: hosts are known by their places among its targets, whose ids are rows. */
import { Type } from "@sinclair/typebox";
import { defineActivity } from "../kernel/activity.ts";
import { Milliseconds, Nothing, Nullable, Text } from "../kernel/schema.ts";
import { Holding } from "./words.ts";

const Count = Type.Integer({ minimum: 0 });
const Attempt = Type.Integer({ minimum: 1 });
/** Places of targets. */
const Indices = Type.Array(Count);

/** Hosts handled by one piece of work. */
export const atOnce = 500;

/** Hands commands over to their hosts. Each may come twice. */
export const offer = defineActivity({
  name: "edge.offer",
  input: Type.Object({
    attempt: Attempt,
    indices: Indices,
    /** Each waits for the run's word before it starts. */
    held: Type.Boolean(),
    /** Until when they wait for hosts that are not reachable; null: for the grace. */
    queue_until: Nullable(Milliseconds),
    /** When their turn came. */
    turn_at: Milliseconds,
    tool: Text,
    timeout_ms: Milliseconds,
    max_output_bytes: Milliseconds,
    grace_ms: Milliseconds,
  }),
  /** Of hosts that hold as many commands as they may. */
  output: Type.Object({ full: Indices }),
});

/** Lets commands start that wait for the run's word. */
export const go = defineActivity({
  name: "edge.go",
  input: Type.Object({ attempt: Attempt, indices: Indices }),
  /** Those that could not: their hosts tell of them again. */
  output: Type.Object({ waiting: Indices }),
});

/** Takes commands back: those that were not sent, or all. */
export const stop = defineActivity({
  name: "edge.stop",
  input: Type.Object({
    attempt: Attempt,
    indices: Indices,
    kind: Type.Union([Type.Literal("withdraw"), Type.Literal("cancel")]),
    reason: Text,
  }),
  /** Those that no host has: they are not started. */
  output: Type.Object({ unknown: Indices }),
});

/** Finds out anew whom the run means, among those that people have approved. */
export const resolve = defineActivity({
  name: "edge.resolve",
  input: Nothing,
  output: Type.Object({ eligible: Count, queued: Count, skipped: Count, holds: Type.Array(Holding) }),
});
