/** What the compiler refuses: messages, bodies, replies, timers and outcomes that do not fit their definitions. */
import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineActivity, outcomeOf } from "../../actors/kernel/activity.ts";
import { defineActor } from "../../actors/kernel/actor.ts";
import { defineLog, type Effect, emit, perform, reply, schedule, tell } from "../../actors/kernel/effect.ts";
import { defineProtocol, message } from "../../actors/kernel/message.ts";
import { Nothing } from "../../actors/kernel/schema.ts";
import { type Context, TurnEffects } from "../../actors/kernel/turn.ts";
import { actorsOf } from "../../src/runtime/handle.ts";
import { implement } from "../../src/runtime/port.ts";

const weigh = defineActivity({
  name: "scale.weigh",
  input: Type.Object({ item: Type.String() }),
  output: Type.Object({ grams: Type.Integer() }),
});
const measure = defineActivity({
  name: "scale.measure",
  input: Type.Object({ item: Type.String() }),
  output: Type.Object({ millimetres: Type.Integer() }),
});

const scaleProtocol = defineProtocol({
  kind: "scale",
  messages: {
    put: message({ body: Type.Object({ item: Type.String() }), reply: Type.Object({ accepted: Type.Boolean() }) }),
    weighed: message({ body: outcomeOf(weigh) }),
    overdue: message({ body: Type.Object({ item: Type.String() }) }),
    reset: message({ body: Nothing }),
  },
});
const shopProtocol = defineProtocol({
  kind: "shop",
  messages: { sold: message({ body: Type.Object({ grams: Type.Integer() }) }) },
});
type ScaleEffect = Effect<typeof scaleProtocol.messages>;
const events = defineLog("events", Type.Object({ item: Type.String() }));
const State = Type.Object({ item: Type.String() });
const caller = { node: "n", call: "c", until: 0 };

describe("effects", () => {
  test("an activity's input, and the message that takes its outcome", () => {
    const good: ScaleEffect = perform(weigh, { item: "pear" }, { id: "w", then: "weighed" });
    // @ts-expect-error: the input has no such member
    const input: ScaleEffect = perform(weigh, { thing: "pear" }, { id: "w", then: "weighed" });
    // @ts-expect-error: the scale takes no such message
    const unknown: ScaleEffect = perform(weigh, { item: "pear" }, { id: "w", then: "wheighed" });
    // @ts-expect-error: that message takes no outcome
    const other: ScaleEffect = perform(weigh, { item: "pear" }, { id: "w", then: "overdue" });
    // @ts-expect-error: that message is without content
    const empty: ScaleEffect = perform(weigh, { item: "pear" }, { id: "w", then: "reset" });
    // @ts-expect-error: that message takes the outcome of another activity
    const foreign: ScaleEffect = perform(measure, { item: "pear" }, { id: "w", then: "weighed" });
    expect(good).toEqual({
      effect: "perform",
      activity: "scale.weigh",
      id: "w",
      input: { item: "pear" },
      then: "weighed",
    } as never);
    expect([input, unknown, other, empty, foreign].map(({ effect }) => effect)).toEqual(Array(5).fill("perform"));
  });

  test("a timer's message and its body", () => {
    const good: ScaleEffect = schedule("t", 5, "overdue", { item: "pear" });
    // @ts-expect-error: the scale takes no such message
    const unknown: ScaleEffect = schedule("t", 5, "late", { item: "pear" });
    // @ts-expect-error: the body is another message's
    const body: ScaleEffect = schedule("t", 5, "overdue", { item: 7 });
    const bare: ScaleEffect = schedule("t", 5, "reset", {});
    // @ts-expect-error: that message is without content
    const full: ScaleEffect = schedule("t", 5, "reset", { at: 1 });
    expect(good).toEqual({
      effect: "schedule",
      timer: "t",
      at: 5,
      message: { type: "overdue", body: { item: "pear" } },
    } as never);
    expect([unknown, body, bare, full].map(({ effect }) => effect)).toEqual(Array(4).fill("schedule"));
  });

  test("another actor's message and its body", () => {
    const good = tell(shopProtocol, "s", "sold", { grams: 90 }, { coCommit: true });
    // @ts-expect-error: the shop takes no such message
    const unknown = tell(shopProtocol, "s", "put", { grams: 90 });
    // @ts-expect-error: grams are a number
    const body = tell(shopProtocol, "s", "sold", { grams: "90" });
    const bare = tell(scaleProtocol, "s", "reset", {});
    // @ts-expect-error: that message is without content
    const full = tell(scaleProtocol, "s", "reset", { nonsense: 1 });
    expect([bare.message.body, full.message.body]).toEqual([{}, { nonsense: 1 }]);
    const sold = { type: "sold", body: { grams: 90 } };
    expect(good).toEqual({ effect: "tell", kind: "shop", key: "s", message: sold, coCommit: true });
    expect([unknown.message.type, body.message.body]).toEqual(["put", { grams: "90" }]);
  });

  test("entries of logs and answers of a later turn", () => {
    expect(emit(events, { item: "pear" })).toEqual({ effect: "emit", log: "events", entry: { item: "pear" } });
    // @ts-expect-error: an entry is an object with an item
    expect(emit(events, "pear").entry).toBe("pear");
    expect(reply(scaleProtocol.messages.put, caller, { accepted: true }).value).toEqual({ accepted: true });
    // @ts-expect-error: the reply says whether it was accepted
    expect(reply(scaleProtocol.messages.put, caller, { taken: true }).value).toEqual({ taken: true });
  });

  test("a turn under construction holds them to its own actor's messages", () => {
    class Turn extends TurnEffects<typeof scaleProtocol.messages> {
      get all() {
        return this.effects;
      }
    }
    const turn = new Turn(scaleProtocol, {} as Context);
    turn.perform(weigh, { item: "pear" }, { id: "w", then: "weighed" });
    // @ts-expect-error: that message takes no outcome
    turn.perform(weigh, { item: "pear" }, { id: "w", then: "overdue" });
    turn.schedule("t", 5, "overdue", { item: "pear" });
    // @ts-expect-error: the body is another message's
    turn.schedule("t", 5, "overdue", {});
    turn.schedule("t", 5, "reset", {});
    // @ts-expect-error: that message is without content
    turn.schedule("t", 5, "reset", { at: 1 });
    turn.reply("put", caller, { accepted: true });
    // @ts-expect-error: that message is told and has no reply
    turn.reply("overdue", caller, { accepted: true });
    expect(turn.all.map(({ effect }) => effect)).toEqual([
      "perform",
      "perform",
      "schedule",
      "schedule",
      "schedule",
      "schedule",
      "reply",
      "reply",
    ]);
  });
});

const scale = defineActor({
  ...scaleProtocol,
  state: State,
  upgrade: (stored) => (typeof stored === "string" ? { item: stored } : stored),
  receive: {
    put: (_, { item }) => ({ state: { item }, reply: { accepted: true }, effects: [] }),
    weighed: (state) => ({ state, effects: [] }),
    overdue: (state) => ({ state, effects: [] }),
    reset: (state) => ({ state, effects: [] }),
  },
});

test("a handler answers with its message's reply, and a told one not at all", () => {
  const wrong = defineActor({
    ...scaleProtocol,
    state: State,
    receive: {
      // @ts-expect-error: the reply says whether it was accepted
      put: (state) => ({ state, reply: { taken: true }, effects: [] }),
      weighed: (state) => ({ state, effects: [] }),
      // @ts-expect-error: no caller waits for a reply
      overdue: (state) => ({ state, reply: true, effects: [] }),
      reset: (state) => ({ state, effects: [] }),
    },
  });
  expect(wrong.kind).toBe(scale.kind);
});

test("the doing of an activity takes its input and returns its output", async () => {
  const options = { concurrency: 1, retry: { attempts: 1, firstDelayMs: 1 } };
  const good = implement(weigh, options, async ({ item }) => ({ grams: item.length }));
  // @ts-expect-error: the output is in grams
  const output = implement(weigh, options, async () => ({ ounces: 3 }));
  // @ts-expect-error: the input has no such member
  const input = implement(weigh, options, async ({ thing }) => ({ grams: String(thing).length }));
  expect(await good.run({ item: "pear" }, {} as never)).toEqual({ grams: 4 });
  expect([output.definition.name, input.definition.name]).toEqual(["scale.weigh", "scale.weigh"]);
});

describe("a handle", () => {
  const asked: unknown[] = [];
  const rows: Record<string, unknown> = { old: "pear", now: { item: "plum" }, odd: { item: 7 } };
  const links = {
    ask: async (...request: unknown[]) => {
      asked.push(request);
      return { accepted: true };
    },
    tell: async (...request: unknown[]) => void asked.push(request),
    tellCommitted: async (...request: unknown[]) => void asked.push(request),
    read: async ({ key }: { key: string }) =>
      key in rows ? { key, tenant: "t", version: 1, format: 1, state: rows[key] as never } : null,
    readMany: async () => [],
    readListed: async () => [],
    logLength: async () => 0,
    log: async () => [{ seq: 1, at: 2, entry: { item: "pear" } }],
    async *logPages() {
      yield [{ seq: 1, at: 2, entry: { item: "pear" } }];
    },
    logPoints: async () => [],
    logEntries: async () => [],
    eraseLogs: async () => {},
    tail: () => () => {},
    isHere: () => true,
    newId: () => Bun.randomUUIDv7(),
  };
  const one = actorsOf(links, scale).at("t", "k");

  test("asks and tells by the definition", async () => {
    const { accepted } = await one.ask("put", { item: "pear" }, { fresh: true });
    expect(accepted).toBe(true);
    await one.tell("overdue", { item: "pear" });
    // @ts-expect-error: there is no such message
    await one.tell("late", { item: "pear" });
    await one.tell("reset", {});
    // @ts-expect-error: that message is without content
    await one.tell("reset", { item: "pear" });
    // @ts-expect-error: a message that is only told cannot be asked
    await one.ask("overdue", { item: "pear" });
    // @ts-expect-error: the reply has no such member
    expect((await one.ask("put", { item: "pear" })).taken).toBeUndefined();
    const at = { kind: "scale", key: "k", tenant: "t" };
    expect(asked[0]).toEqual([at, "put", { item: "pear" }, { fresh: true }]);
    expect(asked[1]).toEqual([at, "overdue", { item: "pear" }]);
  });

  test("reads states of any version in today's shape, and entries by their log", async () => {
    const actors = actorsOf(links, scale);
    const item: string | undefined = (await actors.at("t", "old").read())?.item;
    expect(item).toBe("pear");
    expect((await actors.at("t", "now").read())?.item).toBe("plum");
    expect(await actors.at("t", "gone").read()).toBeNull();
    await expect(actors.at("t", "odd").read()).rejects.toThrow("/item");
    const [first] = await one.log(events, 0, 1);
    expect(first?.entry.item).toBe("pear");
    // @ts-expect-error: the entry has no such member
    expect(first?.entry.thing).toBeUndefined();
  });
});
