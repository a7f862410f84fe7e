/**
 * A runtime in memory for one actor: enough to live through any sequence of messages, strict enough
 * to notice an actor that breaks the rules every actor has.
 *
 * Checked on every turn: the message fits its schema, the handler leaves its inputs alone, the next
 * state and every effect survive JSON and the state fits its schema, timers and activities are named
 * once, each waiting caller is answered at most once.
 */

import { expect } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ActorDefinition } from "../../actors/kernel/actor.ts";
import type { Effect } from "../../actors/kernel/effect.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { Messages } from "../../actors/kernel/message.ts";
import type { Context, Turn } from "../../actors/kernel/turn.ts";

export interface Activity {
  readonly id: string;
  readonly activity: string;
  readonly input: Json;
  readonly then: string;
}

type Handler = (state: Json, body: Json, context: Context) => Turn<Json>;

export class Simulation {
  state: Json = null;
  now = Date.UTC(2031, 4, 2, 6);
  readonly logs = new Map<string, Json[]>();
  readonly timers = new Map<string, { at: number; type: string; body: Json }>();
  /** Under way. */
  readonly activities = new Map<string, Activity>();
  /** Every activity ever asked for, in order. */
  readonly performed: Activity[] = [];
  readonly abandoned = new Set<string>();
  readonly answers = new Map<string, Json>();
  /** Callers without an answer, and until when they wait. */
  private readonly callers = new Map<string, number>();
  readonly told: Effect[] = [];
  /** What turns put on record, by name, in order. */
  readonly facts: { readonly name: string; readonly fact: Json }[] = [];
  /** Ids that the actor made for actors beside it, with their kinds. */
  readonly beside = new Map<string, string>();
  private readonly checks = new Map<string, ReturnType<typeof TypeCompiler.Compile>>();
  private readonly stateCheck: ReturnType<typeof TypeCompiler.Compile>;
  private count = 0;

  constructor(
    private readonly definition: ActorDefinition<TSchema, Messages>,
    readonly key = "0190f3c4-0000-7000-8000-000000000001",
    readonly tenant = "north",
    /** Where its ids begin: those of two actors differ. */
    firstId = 0,
  ) {
    this.count = firstId;
    this.stateCheck = compiledOnce(definition.state);
    for (const [type, schema] of Object.entries(definition.messages)) this.checks.set(type, compiledOnce(schema.body));
  }

  /** Delivers a message nobody waits for. */
  tell(type: string, body: Json): void {
    this.deliver(type, body, null);
  }

  /** Delivers a message that a caller waits for. The answer may come later: see `answers`. */
  ask(type: string, body: Json): string {
    this.count += 1;
    const call = `call-${this.count}`;
    const until = this.now + 60_000;
    this.callers.set(call, until);
    this.deliver(type, body, { node: "n1", call, until });
    return call;
  }

  /** Asks, and expects the answer within the turn. */
  askNow(type: string, body: Json): Json {
    const call = this.ask(type, body);
    expect(this.answers.has(call)).toBe(true);
    return this.answers.get(call) ?? null;
  }

  /** Callers who still wait. */
  get waiting(): string[] {
    return [...this.callers].filter(([, until]) => until > this.now).map(([call]) => call);
  }

  log(name = "events"): readonly Json[] {
    return this.logs.get(name) ?? [];
  }

  /** Ends an activity well. */
  succeed(id: string, value: Json): void {
    this.end(id, { id, ok: true, value });
  }
  /** Ends an activity badly. */
  fail(id: string, code: string, message = code, details?: Json): void {
    this.end(id, { id, ok: false, code, message, ...(details === undefined ? {} : { details }) });
  }
  private end(id: string, outcome: Json): void {
    const activity = this.activities.get(id);
    if (activity === undefined) throw new Error(`no activity ${id} is under way`);
    this.activities.delete(id);
    this.tell(activity.then, outcome);
  }

  /** What it told others to be handled in the very commit of its turn, in order. */
  get coCommitted(): Extract<Effect, { effect: "tell" }>[] {
    return this.told.filter((effect) => effect.effect === "tell" && effect.coCommit === true) as Extract<
      Effect,
      { effect: "tell" }
    >[];
  }

  /** The activities of one name that are under way. */
  underWay(activity: string): Activity[] {
    return [...this.activities.values()].filter((one) => one.activity === activity);
  }

  /** Lets the next timer fire at its time; false when none waits. */
  fireNext(): boolean {
    const [next] = [...this.timers].sort(([, one], [, other]) => one.at - other.at);
    if (next === undefined) return false;
    const [name, { at, type, body }] = next;
    this.timers.delete(name);
    this.now = Math.max(this.now, at);
    this.tell(type, body);
    return true;
  }

  private deliver(type: string, body: Json, replyTo: Context["replyTo"]): void {
    const check = this.checks.get(type);
    if (check === undefined) throw new Error(`no message ${type}`);
    const arrived = JSON.parse(JSON.stringify(body)) as Json;
    if (!check.Check(arrived)) {
      throw new Error(`${type} does not fit: ${JSON.stringify(check.Errors(arrived).First() ?? null)}`);
    }
    this.count += 1;
    const context: Context = {
      now: this.now,
      kind: this.definition.kind,
      key: this.key,
      tenant: this.tenant,
      messageId: `message-${this.count}`,
      replyTo,
      newId: () => this.newId(),
      newIdBeside: ({ kind }) => {
        const id = this.newId();
        this.beside.set(id, kind);
        return id;
      },
    };
    const handler = (this.definition.receive as unknown as Record<string, Handler>)[type] as Handler;
    const turn = handler(deepFreeze(this.state), deepFreeze(arrived), context);
    this.commit(turn, replyTo);
  }

  private commit(turn: Turn<Json>, replyTo: Context["replyTo"]): void {
    // Undefined members would vanish on the way to the store: they must not be there at all.
    expect(JSON.parse(JSON.stringify({ turn }))).toEqual({ turn: { ...turn } });
    if (turn.state !== null && !this.stateCheck.Check(turn.state)) {
      throw new Error(`the state does not fit: ${JSON.stringify(this.stateCheck.Errors(turn.state).First() ?? null)}`);
    }
    this.state = JSON.parse(JSON.stringify(turn.state)) as Json;
    if (turn.reply !== undefined && replyTo !== null) this.answer(replyTo.call, turn.reply);
    for (const effect of turn.effects) this.carryOut(effect);
    if (turn.state === null) this.logs.clear();
  }

  private carryOut(effect: Effect): void {
    switch (effect.effect) {
      case "emit": {
        const name = effect.log;
        this.logs.set(name, [...this.log(name), effect.entry]);
        break;
      }
      case "schedule":
        if (!this.timers.has(effect.timer)) this.timers.set(effect.timer, { at: effect.at, ...effect.message });
        break;
      case "cancel":
        this.timers.delete(effect.timer);
        break;
      case "perform": {
        if (this.performed.some(({ id }) => id === effect.id))
          throw new Error(`activity ${effect.id} is performed twice`);
        const { id, activity, input } = effect;
        this.performed.push({ id, activity, input, then: effect.then });
        this.activities.set(id, { id, activity, input, then: effect.then });
        break;
      }
      case "fact":
        this.facts.push({ name: effect.name, fact: effect.fact });
        break;
      case "abandon":
        this.activities.delete(effect.id);
        this.abandoned.add(effect.id);
        break;
      case "reply":
        this.answer(effect.to.call, effect.value);
        break;
      default:
        this.told.push(effect);
    }
  }

  private answer(call: string, value: Json): void {
    if (this.answers.has(call)) throw new Error(`${call} is answered twice`);
    this.answers.set(call, value);
    this.callers.delete(call);
  }

  private newId(): string {
    this.count += 1;
    return `00000000-0000-7000-8000-${String(this.count).padStart(12, "0")}`;
  }
}

const compiled = new Map<TSchema, ReturnType<typeof TypeCompiler.Compile>>();
function compiledOnce(schema: TSchema): ReturnType<typeof TypeCompiler.Compile> {
  const known = compiled.get(schema) ?? TypeCompiler.Compile(schema);
  compiled.set(schema, known);
  return known;
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
