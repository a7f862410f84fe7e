/** A small actor for runtime tests and benches: counts, remembers who it heard from, uses every effect. */
import { Type } from "@sinclair/typebox";
import { defineActor } from "../../actors/kernel/actor.ts";
import type { ReplyTo } from "../../actors/kernel/message.ts";

const State = Type.Object({
  count: Type.Integer(),
  seen: Type.Array(Type.String()),
  waiting: Type.Array(Type.Object({ node: Type.String(), call: Type.String(), until: Type.Number() })),
  outcomes: Type.Array(Type.String()),
});

const empty = { count: 0, seen: [] as string[], waiting: [] as ReplyTo[], outcomes: [] as string[] };

export const counter = defineActor({
  kind: "counter",
  state: State,
  messages: {
    /** Counts once per call; the label shows doubles. */
    add: Type.Object({ label: Type.Optional(Type.String()), pad: Type.Optional(Type.String()) }),
    /** Counts and writes a log entry. */
    note: Type.Object({ text: Type.String() }),
    /** Tells each of the other counters to add under this label. */
    spread: Type.Object({ to: Type.Array(Type.String()), label: Type.String() }),
    /** Adds, and tells the next of these counters, together, to do the same with the rest. */
    relay: Type.Object({ to: Type.Array(Type.String()), label: Type.String() }),
    /** Answers when `release` comes. */
    hold: Type.Object({}),
    release: Type.Object({}),
    /** Performs an activity. */
    work: Type.Object({ activity: Type.String(), id: Type.String(), input: Type.Unknown() }),
    worked: Type.Object({ id: Type.String(), ok: Type.Boolean() }, { additionalProperties: true }),
    giveUp: Type.Object({ id: Type.String() }),
    wakeAt: Type.Object({ timer: Type.String(), at: Type.Number() }),
    dontWake: Type.Object({ timer: Type.String() }),
    woken: Type.Object({ timer: Type.String() }),
    fail: Type.Object({}),
    unstorable: Type.Object({}),
    get: Type.Object({}),
    end: Type.Object({}),
  },
  receive: {
    add: (state, { label }) => {
      const was = state ?? empty;
      const next = { ...was, count: was.count + 1, seen: label === undefined ? was.seen : [...was.seen, label] };
      return { state: next, reply: next.count, effects: [] };
    },
    note: (state, { text }) => {
      const was = state ?? empty;
      return {
        state: { ...was, count: was.count + 1 },
        reply: was.count + 1,
        effects: [{ effect: "emit", entry: { note: text } }],
      };
    },
    spread: (state, { to, label }) => ({
      state: state ?? empty,
      reply: to.length,
      effects: to.map(
        (key) => ({ effect: "tell", kind: "counter", key, message: { type: "add", body: { label } } }) as const,
      ),
    }),
    relay: (state, { to: [next, ...rest], label }) => {
      const was = state ?? empty;
      const message = { type: "relay", body: { to: rest, label } };
      return {
        state: { ...was, count: was.count + 1, seen: [...was.seen, label] },
        reply: was.count + 1,
        effects: next === undefined ? [] : [{ effect: "tell", kind: "counter", key: next, message, together: true }],
      };
    },
    hold: (state, _body, context) => {
      const was = state ?? empty;
      return {
        state: { ...was, waiting: context.replyTo === null ? was.waiting : [...was.waiting, context.replyTo] },
        effects: [],
      };
    },
    release: (state) => {
      const was = state ?? empty;
      return {
        state: { ...was, waiting: [] },
        reply: was.waiting.length,
        effects: was.waiting.map((to) => ({ effect: "reply", to, value: "released" }) as const),
      };
    },
    work: (state, { activity, id, input }) => ({
      state: state ?? empty,
      reply: id,
      effects: [{ effect: "perform", activity, id, input: input as never, then: "worked" }],
    }),
    worked: (state, { id, ok }) => {
      const was = state ?? empty;
      return {
        state: { ...was, outcomes: [...was.outcomes, `${id}:${ok}`] },
        effects: [{ effect: "emit", entry: { worked: id, ok } }],
      };
    },
    giveUp: (state, { id }) => ({ state: state ?? empty, reply: true, effects: [{ effect: "abandon", id }] }),
    wakeAt: (state, { timer, at }) => ({
      state: state ?? empty,
      reply: true,
      effects: [{ effect: "schedule", timer, at, message: { type: "woken", body: { timer } } }],
    }),
    dontWake: (state, { timer }) => ({ state: state ?? empty, reply: true, effects: [{ effect: "cancel", timer }] }),
    woken: (state, { timer }) => {
      const was = state ?? empty;
      return { state: { ...was, seen: [...was.seen, `woken:${timer}`] }, effects: [] };
    },
    fail: () => {
      throw new Error("this handler always throws");
    },
    // An id that is no UUID column's business is fine for PostgreSQL; a raw NUL in a text column is not.
    unstorable: (state) => ({
      state: state ?? empty,
      reply: true,
      effects: [{ effect: "perform", activity: "nothing", id: "nul\0id", input: null, then: "worked" }],
    }),
    get: (state) => ({ state, reply: state, effects: [] }),
    end: () => ({ state: null, reply: true, effects: [] }),
  },
});
