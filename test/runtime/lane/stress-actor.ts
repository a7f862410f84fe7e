/** An actor that remembers every message of its life, with states and messages of any size, for tests that count. */
import { type Static, Type } from "@sinclair/typebox";
import { defineActor } from "../../../actors/kernel/actor.ts";
import { type Effect, schedule, tell } from "../../../actors/kernel/effect.ts";
import { defineProtocol, message } from "../../../actors/kernel/message.ts";
import type { Address } from "../../../src/runtime/index.ts";

const Told = Type.Object({
  key: Type.String(),
  /** In the commit of the sender. */
  beside: Type.Boolean(),
  /** So many messages. */
  count: Type.Integer(),
  /** Characters of the receiver's state afterwards; as they were when absent. */
  size: Type.Optional(Type.Integer()),
  /** Characters of the message. */
  weight: Type.Optional(Type.Integer()),
  /** What the receiver tells in turn, once. */
  then: Type.Optional(Type.String()),
});

const Take = Type.Object({
  /** Who numbers these messages, and the number. */
  from: Type.String(),
  n: Type.Integer(),
  size: Type.Optional(Type.Integer()),
  load: Type.Optional(Type.String()),
  tells: Type.Optional(Type.Array(Told)),
  /** Sets a timer that is due after so many ms. */
  timerMs: Type.Optional(Type.Integer()),
  /** The turn throws, or its state is one that PostgreSQL refuses. */
  fault: Type.Optional(Type.Union([Type.Literal("throws"), Type.Literal("refused")])),
});
export type Take = Static<typeof Take>;

const State = Type.Object({
  /** By who numbered them, the messages taken, in their order. */
  taken: Type.Record(Type.String(), Type.Array(Type.Integer())),
  /** By receiver and way, how many were told. */
  told: Type.Record(Type.String(), Type.Integer()),
  timersSet: Type.Integer(),
  timersFired: Type.Array(Type.Integer()),
  isRefused: Type.Boolean(),
  filling: Type.String(),
});
export type StressState = Static<typeof State>;

const protocol = defineProtocol({
  kind: "stress",
  messages: {
    take: message({ body: Take, reply: Type.Integer() }),
    wake: message({ body: Type.Object({ timer: Type.Integer() }) }),
  },
});

export const largest = 2 * 1024 * 1024;
/** Text that does not become small when it is compressed. */
const random = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))).toString("base64");
const texts = new Map<number, string>();
export function textOf(length: number): string {
  const known = texts.get(length) ?? random.repeat(Math.ceil(length / random.length)).slice(0, length);
  texts.set(length, known);
  return known;
}

const empty: StressState = { taken: {}, told: {}, timersSet: 0, timersFired: [], isRefused: false, filling: "" };

/** The name under which an actor numbers its messages to another one. */
const wayOf = (key: string, beside: boolean): string => `${key} ${beside ? "beside" : "out"}`;

export const stressActor = defineActor({
  state: State,
  ...protocol,
  receive: {
    take(state, { from, n, size, tells = [], timerMs, fault }, { key: self, now }) {
      if (fault === "throws") throw new Error("told to throw");
      const was = state ?? empty;
      const told = { ...was.told };
      const effects: Effect<typeof protocol.messages>[] = [];
      for (const { key, beside, count, size, weight, then } of tells) {
        for (let index = 0; index < count; index++) {
          const number = (told[`${key} ${wayOf(self, beside)}`] ?? 0) + 1;
          told[`${key} ${wayOf(self, beside)}`] = number;
          const body: Take = {
            from: wayOf(self, beside),
            n: number,
            ...(size === undefined ? {} : { size }),
            ...(weight === undefined ? {} : { load: textOf(weight) }),
            ...(then === undefined ? {} : { tells: [{ key: then, beside: !beside, count: 1 }] }),
          };
          effects.push(tell(protocol, key, "take", body, beside ? { coCommit: true } : {}));
        }
      }
      const timersSet = was.timersSet + (timerMs === undefined ? 0 : 1);
      if (timerMs !== undefined) effects.push(schedule(`t${timersSet}`, now + timerMs, "wake", { timer: timersSet }));
      return {
        state: {
          ...was,
          taken: { ...was.taken, [from]: [...(was.taken[from] ?? []), n] },
          told,
          timersSet,
          isRefused: fault === "refused",
          filling: size === undefined ? was.filling : textOf(size),
        },
        reply: n,
        effects,
      };
    },
    wake: (state, { timer }) => {
      const was = state ?? empty;
      return { state: { ...was, timersFired: [...was.timersFired, timer] }, effects: [] };
    },
  },
});

export const stressAt = (key: string, tenant: string): Address => ({ kind: "stress", key, tenant });
