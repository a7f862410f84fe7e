/** Telling the life of an execution step by step, and what must hold at each of them. */

import { expect } from "bun:test";
import { FormatRegistry } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { ModelAnswer } from "../../../actors/execution/activities.ts";
import { eventName, isTerminal } from "../../../actors/execution/events.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { conversationOf } from "../../../actors/execution/loop/conversation.ts";
import type { ChatMessage, GatewayAnswer } from "../../../actors/execution/messages.ts";
import { ExecutionRecord, executionElement, executionRecord } from "../../../actors/execution/record/record.ts";
import type { Header, Plan } from "../../../actors/execution/start/plan.ts";
import { type ExecutionState, type ListedExecution, listedMembers } from "../../../actors/execution/state.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Simulation } from "../simulate.ts";
import { sampleHeader, samplePlan } from "./fixture.ts";

if (!FormatRegistry.Has("date-time")) FormatRegistry.Set("date-time", (text) => !Number.isNaN(Date.parse(text)));
const recordCheck = TypeCompiler.Compile(ExecutionRecord);

export interface Said {
  readonly content?: string;
  readonly calls?: readonly { id?: string; name: string; arguments?: { readonly [name: string]: Json } }[];
  readonly finish?: "stop" | "length" | "content_filter" | "tool_calls";
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
  /** Calls, by their place, whose bucket is dry. */
  readonly held?: NonNullable<ModelAnswer["held_calls"]>;
  readonly rateWarnings?: NonNullable<ModelAnswer["rate_warnings"]>;
  /** What policy says of each call. */
  readonly clearances?: NonNullable<ModelAnswer["clearances"]>;
}

const judgeAgent = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e22";

export class Story {
  readonly sim = new Simulation(execution as unknown as ActorDefinition);
  readonly plan: Plan;
  readonly header: Header;

  constructor({ header = {}, plan = {} }: { header?: Partial<Header>; plan?: Partial<Plan> } = {}) {
    this.header = sampleHeader(header);
    this.plan = samplePlan(plan);
  }

  get state(): ExecutionState {
    return this.sim.state as unknown as ExecutionState;
  }
  get instance(): string {
    return this.state.iteration.instance_id;
  }
  /** Names of the events so far. */
  get events(): string[] {
    return this.sim.log().map(eventName);
  }
  /** The body of the last event of a name. */
  event(name: string): Record<string, Json> {
    const entry = this.sim.log().findLast((one) => eventName(one) === name);
    expect(entry).toBeDefined();
    return (entry as Record<string, Record<string, Json>>)[name] ?? {};
  }

  start(): this {
    this.sim.askNow("start", { header: this.header, plan: this.plan });
    return this;
  }
  pickUp(): Json {
    const runtime = { isolation: "process", image: null, sandbox: "bubblewrap", egress_enforced: true };
    return this.sim.askNow("picked_up", { instance_id: this.instance, runtime, warnings: [] });
  }
  /** Up to a running instance. */
  launch(): this {
    this.pickUp();
    this.sim.tell("instance_spawned", { instance_id: this.instance });
    return this;
  }
  exit(stdout: string, exitCode: number | null = 0, change: { stderr?: string; reason?: string } = {}): this {
    this.sim.succeed(`run:${this.instance}`, {
      reason: change.reason ?? "exited",
      exit_code: exitCode,
      stdout,
      stdout_truncated: false,
      stderr: change.stderr ?? "",
    });
    return this;
  }
  lose(): this {
    return this.exit("", null, { reason: "lost" });
  }

  generate(prompt = "Run the checks", change: Record<string, Json> = {}): string {
    return this.sim.ask("generate", {
      instance_id: this.instance,
      body_hash: `g:${prompt}`,
      idempotency_key: null,
      agent_id: "",
      iteration_number: this.state.iteration.number,
      model_alias: "default",
      prompt,
      messages: [],
      ...change,
    });
  }
  result(dispatchId: string, change: Record<string, Json> = {}): string {
    const stdout = typeof change.stdout === "string" ? change.stdout : "ok\n";
    return this.sim.ask("dispatch_result", {
      instance_id: this.instance,
      body_hash: `r:${dispatchId}:${stdout}`,
      idempotency_key: null,
      dispatch_id: dispatchId,
      exit_code: 0,
      stdout,
      stderr: "",
      duration_ms: 12,
      truncated: false,
      ...change,
    });
  }
  modelSays({ content = "", calls = [], finish, warnings, held, rateWarnings, clearances }: Said): this {
    const [call] = this.sim.underWay("model.call");
    expect(call).toBeDefined();
    this.sim.succeed(call?.id ?? "", {
      provider: "scripted",
      model: "scripted-1",
      content,
      tool_calls: calls.map(({ id, name, arguments: given = {} }, index) => ({
        id: id ?? `c${index + 1}`,
        name,
        arguments: given,
      })),
      finish_reason: finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
      usage: { input_tokens: 10, output_tokens: 4 },
      cost_usd: 0.001,
      prompt: "what is new",
      ...(warnings === undefined ? {} : { warnings: warnings.map((warning) => ({ ...warning })) }),
      ...(held === undefined ? {} : { held_calls: held.map((one) => ({ ...one })) }),
      ...(clearances === undefined ? {} : { clearances: structuredClone(clearances) as Json }),
      ...(rateWarnings === undefined ? {} : { rate_warnings: rateWarnings.map((one) => ({ ...one })) }),
    });
    return this;
  }
  /** The rates of tenant and user do not let the model be asked. */
  heldBack(code: "rate_limited" | "limiter_unavailable", seconds: number, refusal: Json = {}): this {
    const [call] = this.sim.underWay("model.call");
    this.sim.fail(call?.id ?? "", code, "not now", { retry_after_seconds: seconds, refusal });
    return this;
  }
  modelFails(errorClass: string): this {
    const [call] = this.sim.underWay("model.call");
    this.sim.fail(call?.id ?? "", "model_error", `upstream: ${errorClass}`, {
      error_class: errorClass,
      provider: "scripted",
      model: "scripted-1",
      attempts: 3,
      elapsed_ms: 40,
      fallback_attempted: false,
    });
    return this;
  }
  toolEnds(index = 0, value: Json = { status: "succeeded", result: { status: "success" } }): this {
    const call = this.sim.underWay("tool.call")[index];
    expect(call).toBeDefined();
    this.sim.succeed(call?.id ?? "", value);
    return this;
  }
  validated(output: string, ...scores: number[]): this {
    const measurements = scores.map((score) => ({
      score,
      confidence: 1,
      feedback: score < 1 ? "lanes is missing" : null,
      details: null,
    }));
    const [call] = this.sim.underWay("iteration.validate");
    this.sim.succeed(call?.id ?? "", { output, measurements });
    return this;
  }
  /** The children it waits for, oldest first. */
  get children(): { id: string; agent: string; input: Json }[] {
    const asked = new Map(
      this.sim.performed
        .filter(({ activity }) => activity === "child.start")
        .map(({ id, input }) => [id, input as { agent: string; input: Json }]),
    );
    return this.state.children.map(({ id }) => {
      const { agent = "", input = null } = asked.get(`child:${id}`) ?? {};
      return { id, agent, input };
    });
  }
  childStarts(id: string): this {
    this.sim.succeed(`child:${id}`, { agent_id: judgeAgent });
    return this;
  }
  childEnds(id: string, output: string | null, status = "completed"): this {
    const error_code = status === "completed" ? null : "runtime_error";
    this.sim.tell("child_ended", { child_execution_id: id, agent_id: judgeAgent, status, output, error_code });
    return this;
  }
  /** The oldest child waited for by that agent starts and gives a verdict. */
  judges(agent: string, verdict: Json): this {
    const child = this.children.find((one) => one.agent === agent);
    expect(child).toBeDefined();
    const id = child?.id ?? "";
    return this.childStarts(id).childEnds(id, JSON.stringify(verdict));
  }
  /** Ids of the executions that were told to cancel, with the reason. */
  get cancelled(): [id: string, reason: string][] {
    return this.sim.told.flatMap((effect): [string, string][] =>
      effect.effect === "tell" && effect.message.type === "cancel"
        ? [[effect.key, (effect.message.body as { reason: string }).reason]]
        : [],
    );
  }

  answer(call: string): GatewayAnswer {
    const value = this.sim.answers.get(call);
    expect(value).toBeDefined();
    return value as unknown as GatewayAnswer;
  }
  /** The id of the dispatch that answered a call. */
  dispatchOf(call: string): string {
    const value = this.answer(call);
    return value.status === "reply" ? value.reply.dispatch_id : expect.unreachable(`${call} got ${value.status}`);
  }
  conversation(instance = this.instance): ChatMessage[] {
    return conversationOf(this.sim.log(`loop:${instance}`));
  }
  record(upto = this.sim.log().length): ExecutionRecord {
    const subject = { execution_id: this.sim.key, tenant_id: this.sim.tenant };
    return executionRecord(subject, this.state, this.plan, this.sim.log().slice(0, upto), true);
  }

  /** What holds after every message, whatever came before. */
  checkInvariants(): void {
    if (this.sim.state === null) return;
    const { state, events } = this;
    const terminal = this.sim.log().filter(isTerminal).length;
    const over = state.status !== "pending" && state.status !== "running";
    expect(terminal).toBe(over ? 1 : 0);
    if (over) {
      expect(isTerminal(this.sim.log().at(-1) ?? null)).toBe(true);
      expect(this.sim.underWay("iteration.run")).toEqual([]);
      // The start of a child is never given up: only its outcome tells whether there is one to cancel.
      // Deliveries begin only now.
      const outliving = ["child.start", "delivery.send"];
      expect([...this.sim.activities.values()].filter(({ activity }) => !outliving.includes(activity))).toEqual([]);
      expect(state.handling).toBeNull();
      expect(state.children).toEqual([]);
      expect([...this.sim.timers.keys()]).toEqual([]);
      expect(this.sim.waiting).toEqual([]);
    }
    if (events.length > 0 && events[0] !== "execution_started") {
      expect(["execution_failed", "execution_cancelled"]).toContain(events[0] ?? "");
      expect(events).toHaveLength(1);
    }
    this.checkIterations();
    this.checkChildren();
    this.checkOutput();
    this.checkApprovals();
    for (const name of this.sim.logs.keys()) if (name.startsWith("loop:")) this.checkToolMessages(name);
    this.checkRecord(events.length);
    const subject = { execution_id: this.sim.key, tenant_id: this.sim.tenant };
    expect(executionElement(subject, state).status).toBe(state.status);
  }

  /** An output is handled once at most; every end tells the destinations that want it, no two of them the same. */
  private checkOutput(): void {
    const begun = this.events.filter((name) => name === "output_handler_started").length;
    const over = this.events.filter((name) => /^output_handler_(completed|failed)$/.test(name)).length;
    expect(begun).toBeLessThanOrEqual(1);
    expect(over).toBeLessThanOrEqual(begun);
    if (this.state.handling === "handling") expect(over).toBe(0);
    if (this.state.status === "completed") expect(over).toBe(begun);
    const sent = this.sim.performed.filter(({ activity }) => activity === "delivery.send").length;
    const isOver = this.state.ending !== null;
    const wanted = this.plan.deliveries.filter(
      ({ condition }) => condition === "always" || (condition === "on_success") === (this.state.status === "completed"),
    );
    expect(sent).toBe(isOver ? wanted.length : 0);
  }

  /** An approval is taken back once at most, and told once whether its call ran; what is waited for is open. */
  private checkApprovals(): void {
    const told = (type: string) =>
      this.sim.coCommitted
        .filter(({ kind, message }) => kind === "approval" && message.type === type)
        .map(({ key }) => key);
    const [opened, withdrawn, executed] = [told("open"), told("withdraw"), told("executed")];
    for (const ids of [opened, withdrawn]) expect(new Set(ids).size).toBe(ids.length);
    const calls = this.state.iteration.loop?.calls ?? [];
    for (const { wait, started_at } of calls) {
      if (wait?.approval == null) continue;
      expect(opened).toContain(wait.approval.id);
      expect(withdrawn).not.toContain(wait.approval.id);
      expect(executed).not.toContain(wait.approval.id);
      expect(started_at).toBeNull();
    }
    // Nothing runs of which it is not known that all whom its arguments concern have agreed.
    for (const { wait, started_at, clearance } of calls) {
      if (wait === undefined || started_at === null) continue;
      expect(wait.stale === true).toBe(false);
      expect(wait.agreed).toBe((wait.asks ?? clearance?.approvals ?? []).length);
    }
  }

  /** Iterations begin once, end once, in order. */
  private checkIterations(): void {
    const numbers = (name: string) =>
      this.sim
        .log()
        .filter((entry) => eventName(entry) === name)
        .map((entry) => (entry as Record<string, { iteration_number: number }>)[name]?.iteration_number);
    const begun = numbers("iteration_started");
    expect(begun).toEqual(begun.map((_, index) => index + 1));
    for (const name of ["iteration_completed", "iteration_rejected", "iteration_failed"]) {
      const ended = numbers(name);
      expect(new Set(ended).size).toBe(ended.length);
    }
    expect(begun.length).toBeLessThanOrEqual(this.header.max_iterations);
  }

  /** A child begins once and ends once; one that nobody waits for was told so; one that is waited for has a timer. */
  private checkChildren(): void {
    const { state, events } = this;
    const ids = (name: string) =>
      this.sim
        .log()
        .filter((entry) => eventName(entry) === name)
        .map((entry) => (entry as Record<string, { child_execution_id: string }>)[name]?.child_execution_id);
    const begun = ids("child_execution_spawned");
    const over = ids("child_execution_completed");
    expect(new Set(begun).size).toBe(begun.length);
    expect(new Set(over).size).toBe(over.length);
    for (const id of over) expect(begun).toContain(id);
    const waiting = begun.filter((id) => !over.includes(id));
    const swarm = state.header.hierarchy.swarm_id !== null && events.length > 0;
    for (const id of waiting) {
      if (!(swarm && state.children.length === 0)) expect(state.children.map((child) => child.id)).toContain(id ?? "");
    }
    for (const { role, concern } of state.children) {
      expect(this.sim.timers.has(role === "output_handler" ? "output-handler" : `panel:${concern}`)).toBe(true);
    }
    const panels = [
      state.iteration.validation?.panel ?? null,
      ...[...(state.iteration.loop?.calls ?? []), ...(state.outside?.calls ?? [])].map((call) => call.panel),
    ].filter((panel) => panel !== null);
    const open = panels.flatMap(({ seats }) => seats.filter((seat) => seat.open).map((seat) => seat.execution_id));
    const known = state.children.filter(({ role }) => role !== "output_handler").map(({ id }) => id);
    expect(open.sort()).toEqual(known.sort());
  }

  /** Every call has at most one tool message; before the model speaks again, exactly one, in order. */
  private checkToolMessages(log: string): void {
    const conversation = conversationOf(this.sim.log(log));
    conversation.forEach((message, at) => {
      if (message.role !== "assistant" || message.tool_calls === undefined) return;
      const wanted = message.tool_calls.map(({ id }) => id);
      const rest = conversation.slice(at + 1);
      const end = rest.findIndex(({ role }) => role !== "tool");
      const given = (end === -1 ? rest : rest.slice(0, end)).map(({ tool_call_id }) => tool_call_id ?? "");
      if (rest[end]?.role === "assistant") expect(given).toEqual(wanted);
      else expect(given).toEqual(wanted.filter((id) => given.includes(id)));
    });
  }

  /** Before a model is called, every call of the conversation it will see is answered. */
  checkModelInput(): void {
    for (const { input } of this.sim.underWay("model.call")) {
      const { log, from, upto } = input as { log: string; from: number; upto: number };
      const seen = conversationOf(this.sim.log(log).slice(from - 1, upto));
      const asked = seen.flatMap(({ tool_calls = [] }) => tool_calls).length;
      expect(seen.filter(({ role }) => role === "tool").length).toBe(asked);
    }
  }

  checkRecord(upto: number): void {
    const record = this.record(upto);
    if (!recordCheck.Check(record)) {
      throw new Error(`the record does not fit: ${JSON.stringify(recordCheck.Errors(record).First() ?? null)}`);
    }
    const { iteration, iterations_begun } = this.state;
    expect(iterations_begun).toBe(iteration.started_at === null ? iteration.number - 1 : iteration.number);
    const subject = { execution_id: "e", tenant_id: "t" };
    const listed = Object.fromEntries(listedMembers.map((name) => [name, this.state[name]]));
    expect(executionElement(subject, listed as unknown as ListedExecution)).toEqual(
      executionElement(subject, this.state),
    );
  }
}
