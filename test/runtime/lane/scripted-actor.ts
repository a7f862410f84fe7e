/** A scripted actor: it does what the message says and passes on the messages it contains, so a test can play any tree of messages. */

import { type Static, Type } from "@sinclair/typebox";
import { defineActor } from "../../../actors/kernel/actor.ts";
import type { Effect } from "../../../actors/kernel/effect.ts";
import { abandon, defineLog, emit, perform, reply, schedule, tell } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { defineProtocol, message } from "../../../actors/kernel/message.ts";
import type { Context } from "../../../actors/kernel/turn.ts";
import type { Address } from "../../../src/runtime/index.ts";
import { partitionOf } from "../../../src/runtime/mailbox/partition.ts";
import { jsonActivity } from "../../harness/runtime/counter.ts";

export interface Order {
  readonly label: string;
  readonly tells?: readonly Tell[];
  readonly act?: Act;
  /** Makes ids beside this actor and tells each, co-committed, to hear the label. */
  readonly make?: number;
}
export interface Tell {
  readonly key: string;
  readonly type?: string;
  readonly body: Order | Json;
  readonly apart?: boolean;
}
export type Act = Static<typeof Act>;

const Act = Type.Union(
  (["emit", "perform", "abandon", "hold", "release", "end", "throw", "unstorable", "wake"] as const).map((act) =>
    Type.Literal(act),
  ),
);
const State = Type.Object({
  heard: Type.Array(Type.String()),
  made: Type.Array(Type.String()),
  waiting: Type.Array(Type.Object({ node: Type.String(), call: Type.String(), until: Type.Number() })),
});
export type ScriptedState = Static<typeof State>;

const Play = Type.Object({
  label: Type.String(),
  tells: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String(),
        type: Type.Optional(Type.String()),
        body: Type.Unknown(),
        apart: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
  act: Type.Optional(Act),
  make: Type.Optional(Type.Integer()),
});

const scriptedProtocol = defineProtocol({
  kind: "scripted",
  messages: {
    play: message({ body: Play, reply: Type.String() }),
    worked: message({ body: Type.Object({ id: Type.String() }, { additionalProperties: true }) }),
  },
});
type ScriptedEffect = Effect<typeof scriptedProtocol.messages>;

/** @param attempts gets `label messageId` of every turn begun, whether or not it is committed */
export function scriptedActor(attempts: string[] = []) {
  return defineActor({
    state: State,
    ...scriptedProtocol,
    receive: {
      play: (state, { label, tells = [], act, make = 0 }, context) => {
        attempts.push(`${label} ${context.messageId}`);
        if (act === "throw") throw new Error("told to throw");
        const was = state ?? { heard: [], made: [], waiting: [] };
        const ids = Array.from({ length: make }, () => context.newIdBeside(scriptedProtocol));
        const told: Tell[] = [...tells, ...ids.map((key) => ({ key, body: { label } }))] as Tell[];
        const effects: ScriptedEffect[] = told.map(({ key, type, body, apart }) =>
          // Mistyped messages on purpose, too.
          tell(
            scriptedProtocol,
            key,
            (type ?? "play") as "play",
            body as never,
            apart === true ? {} : { coCommit: true },
          ),
        );
        if (act !== undefined) effects.push(...acting(act, label, was, context));
        const waits = act === "hold" && context.replyTo !== null;
        const next = {
          heard: [...was.heard, label],
          made: [...was.made, ...ids],
          waiting: waits ? [context.replyTo] : act === "release" ? [] : was.waiting,
        };
        return { state: act === "end" ? null : next, ...(waits ? {} : { reply: "done" }), effects };
      },
      worked: (state, { id }) => ({
        state: state === null ? null : { ...state, heard: [...state.heard, `worked ${id}`] },
        effects: [],
      }),
    },
  });
}

const work = jsonActivity("work");

function acting(act: Act, label: string, was: ScriptedState, { now }: Context): ScriptedEffect[] {
  switch (act) {
    case "emit":
      return [emit(defineLog("events", AnyJson), label)];
    case "perform":
      return [perform(work, label, { id: label, then: "worked" })];
    case "abandon":
      return [abandon(label)];
    case "release":
      return was.waiting.map((to) => reply(scriptedProtocol.messages.play, to, label));
    case "unstorable":
      return [perform(work, null, { id: "nul\0id", then: "worked" })];
    case "wake":
      return [schedule(label, now + 20, "play", { label: `woken ${label}` })];
    default:
      return [];
  }
}

export function scriptedAt(key: string, tenant = "acme"): Address {
  return { kind: "scripted", key, tenant };
}

/** Keys of scripted actors that live in one partition of eight. */
export function keysIn(partition: number, count: number): string[] {
  const keys: string[] = [];
  for (let index = 0; keys.length < count; index++) {
    if (partitionOf("scripted", `key-${index}`, 8) === partition) keys.push(`key-${index}`);
  }
  return keys;
}

/** A chain: each of these keys tells the next one. */
export function chain(keys: readonly string[], last: Partial<Order> = {}): Order {
  return keys.reduceRight<Order>((body, key) => ({ label: "link", tells: [{ key, body }] }), {
    label: "last",
    ...last,
  });
}
