/** A small actor for runtime tests and benches: counts, remembers who it heard from, uses every effect. */

import { Type } from "@sinclair/typebox";
import { defineActivity } from "../../../actors/kernel/activity.ts";
import { defineActor } from "../../../actors/kernel/actor.ts";
import { abandon, cancel, defineLog, emit, perform, reply, schedule, tell } from "../../../actors/kernel/effect.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import { defineProtocol, message } from "../../../actors/kernel/message.ts";

const State = Type.Object({
  count: Type.Integer(),
  seen: Type.Array(Type.String()),
  waiting: Type.Array(Type.Object({ node: Type.String(), call: Type.String(), until: Type.Number() })),
  outcomes: Type.Array(Type.String()),
});

const empty = { count: 0, seen: [] as string[], waiting: [] as ReplyTo[], outcomes: [] as string[] };

/** An activity that takes and returns any JSON. */
export const jsonActivity = (name: string) => defineActivity({ name, input: AnyJson, output: AnyJson });

const notes = defineLog("events", AnyJson);

const counterProtocol = defineProtocol({
  kind: "counter",
  messages: {
    /** Counts once per call; the label shows doubles. */
    add: message({
      body: Type.Object({ label: Type.Optional(Type.String()), pad: Type.Optional(Type.String()) }),
      reply: Type.Integer(),
    }),
    /** Counts and writes a log entry. */
    note: message({ body: Type.Object({ text: Type.String() }), reply: Type.Integer() }),
    /** Tells each of the other counters to add under this label. */
    spread: message({
      body: Type.Object({ to: Type.Array(Type.String()), label: Type.String() }),
      reply: Type.Integer(),
    }),
    /** Adds, and tells the next of these counters, co-committed, to do the same with the rest. */
    relay: message({
      body: Type.Object({ to: Type.Array(Type.String()), label: Type.String() }),
      reply: Type.Integer(),
    }),
    /** Answers when `release` comes. */
    hold: message({ body: Type.Object({}), reply: Type.String() }),
    release: message({ body: Type.Object({}), reply: Type.Integer() }),
    /** Performs an activity. */
    work: message({
      body: Type.Object({ activity: Type.String(), id: Type.String(), input: AnyJson }),
      reply: Type.String(),
    }),
    worked: message({ body: Type.Object({ id: Type.String(), ok: Type.Boolean() }, { additionalProperties: true }) }),
    giveUp: message({ body: Type.Object({ id: Type.String() }), reply: Type.Boolean() }),
    wakeAt: message({ body: Type.Object({ timer: Type.String(), at: Type.Number() }), reply: Type.Boolean() }),
    dontWake: message({ body: Type.Object({ timer: Type.String() }), reply: Type.Boolean() }),
    woken: message({ body: Type.Object({ timer: Type.String() }) }),
    fail: message({ body: Type.Object({}), reply: Type.Null() }),
    unstorable: message({ body: Type.Object({}), reply: Type.Boolean() }),
    get: message({ body: Type.Object({}), reply: Type.Union([State, Type.Null()]) }),
    end: message({ body: Type.Object({}), reply: Type.Boolean() }),
  },
});

export const counter = defineActor({
  ...counterProtocol,
  state: State,
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
        effects: [emit(notes, { note: text })],
      };
    },
    spread: (state, { to, label }) => ({
      state: state ?? empty,
      reply: to.length,
      effects: to.map((key) => tell(counterProtocol, key, "add", label === undefined ? {} : { label })),
    }),
    relay: (state, { to: [next, ...rest], label }) => {
      const was = state ?? empty;
      return {
        state: { ...was, count: was.count + 1, seen: [...was.seen, label] },
        reply: was.count + 1,
        effects:
          next === undefined ? [] : [tell(counterProtocol, next, "relay", { to: rest, label }, { coCommit: true })],
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
        effects: was.waiting.map((to) => reply(counterProtocol.messages.hold, to, "released")),
      };
    },
    work: (state, { activity, id, input }) => ({
      state: state ?? empty,
      reply: id,
      effects: [perform(jsonActivity(activity), input, { id, then: "worked" })],
    }),
    worked: (state, { id, ok }) => {
      const was = state ?? empty;
      return {
        state: { ...was, outcomes: [...was.outcomes, `${id}:${ok}`] },
        effects: [emit(notes, { worked: id, ok })],
      };
    },
    giveUp: (state, { id }) => ({ state: state ?? empty, reply: true, effects: [abandon(id)] }),
    wakeAt: (state, { timer, at }) => ({
      state: state ?? empty,
      reply: true,
      effects: [schedule(timer, at, "woken", { timer })],
    }),
    dontWake: (state, { timer }) => ({ state: state ?? empty, reply: true, effects: [cancel(timer)] }),
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
      effects: [perform(jsonActivity("nothing"), null, { id: "nul\0id", then: "worked" })],
    }),
    get: (state) => ({ state, reply: state, effects: [] }),
    end: () => ({ state: null, reply: true, effects: [] }),
  },
});
