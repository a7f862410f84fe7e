/**
 * The life of a swarm: an execution with `swarm_enabled` and all that it and its children start.
 *
 *   ─joined─▶ active ─founder_ended, cancel─▶ dissolving ─last left─▶ dissolved
 *
 * Members tell it themselves, in the turns with which they begin and end. News of different members may overtake each
 * other, and the founder's end the first of them: each is taken by itself, and only what all of them say decides.
 */
import { type Static, Type } from "@sinclair/typebox";
import { defineActor } from "../kernel/actor.ts";
import { auditEntry } from "../kernel/audit.ts";
import { fact, tell } from "../kernel/effect.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import type { Context, Turn } from "../kernel/turn.ts";
import {
  memberProtocol,
  type SwarmCancelReply,
  type SwarmMessages,
  type SwarmStatus,
  swarmProtocol,
} from "./messages.ts";

/** Further descendants are of the swarm by their records alone: they are neither listed nor waited for. */
const maxMembers = 1_000;

/** Times are Unix milliseconds. */
export const SwarmState = Type.Object({
  created_at: Type.Integer(),
  /** In the order in which they joined. */
  members: Type.Array(Type.Object({ id: Text, ended: Type.Boolean() })),
  founder_ended: Type.Boolean(),
  cancelled: Type.Boolean(),
  /** The founder's record is gone. */
  orphaned: Type.Boolean(),
  dissolved_at: Nullable(Type.Integer()),
});
export type SwarmState = Static<typeof SwarmState>;

type Result<Reply = never> = Turn<SwarmState, Reply, SwarmMessages>;

export const swarm = defineActor({
  ...swarmProtocol,
  state: SwarmState,
  receive: {
    joined(state, { execution_id: id }, context): Result {
      const before = state ?? fresh(context);
      if (before.members.some((one) => one.id === id) || before.members.length >= maxMembers) return same(state);
      const after = settled({ ...before, members: [...before.members, { id, ended: false }] }, context);
      // Its start was under way when the swarm was cancelled.
      return { state: after, effects: after.cancelled ? [cancelOf(id)] : [] };
    },

    left(state, { execution_id: id }, context): Result {
      if (state?.members.some((one) => one.id === id && !one.ended) !== true) return same(state);
      const members = state.members.map((one) => (one.id === id ? { id, ended: true } : one));
      return keptOrGone(settled({ ...state, members }, context));
    },

    founder_ended(state, _, context): Result {
      if (state?.founder_ended === true) return same(state);
      return keptOrGone(settled({ ...(state ?? fresh(context)), founder_ended: true }, context));
    },

    founder_erased(state, _, context): Result {
      if (state === null) return same(null);
      return keptOrGone(settled({ ...state, founder_ended: true, orphaned: true }, context));
    },

    cancel(state, { by }, context): Result<SwarmCancelReply> {
      if (state === null || state.members.length === 0) return { ...same(state), reply: { outcome: "unknown" } };
      if (state.dissolved_at !== null) return { ...same(state), reply: { outcome: "dissolved" } };
      const running = state.members.filter(({ ended }) => !ended).map(({ id }) => id);
      const details = { members: running.length };
      const entry = fact(auditEntry, {
        by,
        action: "swarm.cancelled",
        target: { type: "swarm", id: context.key },
        details,
      });
      return {
        state: settled({ ...state, cancelled: true }, context),
        effects: [entry, ...running.map(cancelOf)],
        reply: { outcome: "cancelled" },
      };
    },

    erase: (): Result<{ outcome: "erased" }> => ({ state: null, effects: [], reply: { outcome: "erased" } }),
  },
});

/** Where a swarm with a member stands. */
export function statusOf({ founder_ended, cancelled, dissolved_at }: SwarmState): SwarmStatus {
  if (dissolved_at !== null) return "dissolved";
  return founder_ended || cancelled ? "dissolving" : "active";
}

/** Dissolved once it takes no members and the last one has ended; one that is found later opens nothing again. */
function settled(state: SwarmState, { now }: Context): SwarmState {
  const isOver =
    statusOf(state) === "dissolving" && state.members.length > 0 && state.members.every((one) => one.ended);
  return isOver ? { ...state, dissolved_at: now } : state;
}

/** Without its founder's record it is kept for as long as members are at work, or may still join. */
function keptOrGone(state: SwarmState): Result {
  const isGone = state.orphaned && (state.dissolved_at !== null || state.members.length === 0);
  return { state: isGone ? null : state, effects: [] };
}

const fresh = ({ now }: Context): SwarmState => ({
  created_at: now,
  members: [],
  founder_ended: false,
  cancelled: false,
  orphaned: false,
  dissolved_at: null,
});

const same = (state: SwarmState | null): Result => ({ state, effects: [] });

const cancelOf = (id: string) => tell(memberProtocol, id, "cancel", { reason: "swarm_cancelled" });
