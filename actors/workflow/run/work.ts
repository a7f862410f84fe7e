/** What a run is at: the state at work, its progress by its kind, and the lines of one that goes several ways at once. */
import { type Static, Type } from "@sinclair/typebox";
import { EndReason, RunStatus as FleetStatus, Summary } from "../../fleet-run/words.ts";
import { AnyJson, JsonObject } from "../../kernel/json.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import { Judge } from "../definition/parts.ts";
import { Watch } from "./activities/stimulus.ts";
import { batchWork, mapWork } from "./map/progress.ts";

/** Unix milliseconds. */
export const Moment = Type.Integer();

/** An agent execution at work for a state. */
export const AgentChild = Type.Object({
  id: Text,
  role: Type.Union([
    Type.Literal("agent"),
    Type.Literal("judge"),
    Type.Literal("pre_validator"),
    Type.Literal("output_handler"),
  ]),
  /** Position among those of its role in this state. */
  index: Type.Integer({ minimum: 0 }),
  agent: Text,
  started: Type.Boolean(),
});
export type AgentChild = Static<typeof AgentChild>;

/** What an ended agent execution came to. */
export const AgentEnd = Type.Object({
  /** As the state names it. */
  agent: Text,
  /** Null: it never started. */
  agent_id: Nullable(Text),
  /** Null: it was refused, so there is none. */
  execution_id: Nullable(Text),
  status: Text,
  output: Nullable(Text),
  /** A code. */
  error: Nullable(Text),
  /** What its execution or the refusal of its start says of it; absent from what earlier versions stored. */
  cause: Type.Optional(Nullable(Text)),
});
export type AgentEnd = Static<typeof AgentEnd>;

/** A judge's verdict as results show it. */
export const JudgeResult = Type.Object({
  /** The agent whose verdict it is. */
  judge: Text,
  execution_id: Nullable(Text),
  score: Type.Number(),
  confidence: Type.Number(),
  reasoning: Text,
  weight: Type.Number(),
});
export type JudgeResult = Static<typeof JudgeResult>;

/** A call of a tool under way, or to be tried again. */
export const CallWork = Type.Object({
  /** Its id in the record of calls. */
  invocation: Text,
  /** UUID; the same for every try. */
  key: Text,
  /** When it last began to be made: what it waited for people is behind that. */
  since: Moment,
  /** When it is tried again; null: it is under way. */
  again_at: Nullable(Moment),
  /** Until when a refusal is waited out that passes, where the state has no timeout. */
  give_up_at: Moment,
  /** The last one of people who were asked. */
  approval_id: Nullable(Text),
});
export type CallWork = Static<typeof CallWork>;

/** Progress of a state, by its kind. */
const leafWork = [
  /** `noop`, `update_blackboard`, and results settled at once: the next turn finishes it. */
  Type.Object({ of: Type.Literal("immediate"), result: JsonObject }),
  Type.Object({ of: Type.Literal("human"), approval_id: Text, expires_at: Moment }),
  Type.Object({
    of: Type.Literal("command"),
    activity: Text,
    /** Non-null once the command itself is done and its output handler is at work. */
    result: Nullable(JsonObject),
    children: Type.Array(AgentChild),
  }),
  Type.Object({
    of: Type.Literal("commands"),
    /** In the order of the steps; a `result` of null is still at work. */
    steps: Type.Array(Type.Object({ name: Text, activity: Text, result: Nullable(JsonObject) })),
  }),
  Type.Object({
    of: Type.Literal("agent"),
    phase: Type.Union([
      Type.Literal("pre_validation"),
      Type.Literal("running"),
      Type.Literal("judging"),
      Type.Literal("handling"),
    ]),
    /** The rendered agent and input, before any refinement. */
    agent: Text,
    input: AnyJson,
    intent: Nullable(Text),
    iteration: Type.Integer({ minimum: 0 }),
    /** Of earlier iterations, appended to the input. */
    refinements: Type.Array(Type.Object({ score: Type.Number(), feedback: Text })),
    pre_validation_score: Nullable(Type.Number()),
    children: Type.Array(AgentChild),
    /** Of this iteration. */
    ended: Nullable(AgentEnd),
    verdicts: Type.Array(Nullable(JudgeResult)),
    result: Nullable(JsonObject),
  }),
  Type.Object({
    of: Type.Literal("parallel"),
    phase: Type.Union([Type.Literal("running"), Type.Literal("judging"), Type.Literal("handling")]),
    children: Type.Array(AgentChild),
    ends: Type.Array(Nullable(AgentEnd)),
    judges: Type.Array(Judge),
    verdicts: Type.Array(Nullable(JudgeResult)),
    result: Nullable(JsonObject),
  }),
  Type.Object({ of: Type.Literal("subworkflow"), child: Text, workflow: Text, started: Type.Boolean() }),
  Type.Object({ of: Type.Literal("tool"), ...CallWork.properties }),
  Type.Object({
    of: Type.Literal("fleet"),
    ...CallWork.properties,
    phase: Type.Union([Type.Literal("sending"), Type.Literal("running"), Type.Literal("reading")]),
    /** Null: it has not told of itself. */
    fleet_command_id: Nullable(Text),
    end: Nullable(Type.Object({ status: FleetStatus, reason: Nullable(EndReason), summary: Summary })),
  }),
  Type.Object({ of: Type.Literal("http"), activity: Text, since: Moment }),
  Type.Object({
    of: Type.Literal("wait"),
    on: Type.Union([Type.Literal("time"), Type.Literal("signal"), Type.Literal("stimulus")]),
    since: Moment,
    /** When it ends without a signal or a stimulus; null: its state has no timeout. */
    until: Nullable(Moment),
    /** The name of the signal; null: it waits for none. */
    signal: Nullable(Text),
    /** Null: it waits for no stimulus. */
    watch: Nullable(Watch),
  }),
  /** An attempt failed with `result`; the next one begins at `until`. */
  Type.Object({ of: Type.Literal("backoff"), until: Moment, result: JsonObject }),
] as const;

const current = {
  name: Text,
  /** How often this state has been entered, this time included. */
  visit: Type.Integer({ minimum: 1 }),
  /** Unique in the run: counts every entry. Timers and outcomes of an earlier entry are told by it. */
  entry: Type.Integer({ minimum: 1 }),
  entered_at: Moment,
  /** Of the state; null: none. */
  deadline_at: Nullable(Moment),
  /** Which attempt of this visit; absent: the first. */
  attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  /** What it started and where tool calls wait for people. */
  waits: Type.Optional(
    Type.Array(
      Type.Object({
        child: Text,
        waiting: Nullable(Type.Object({ approval_id: Text, tool: Text, expires_at: Moment })),
        /** Since when the child's clocks stand still, and how long they may, ms; null: they run. */
        since: Nullable(Moment),
        most_ms: Type.Integer(),
      }),
    ),
  ),
  /** Its deadline stands still since then, and is put off by so much, ms. */
  stands: Type.Optional(Type.Object({ since: Moment, lent_ms: Type.Integer() })),
};

/** A state decided on and not yet entered. */
export const Next = Type.Object({ target: Text, feedback: Nullable(Text) });

const LineCurrent = Type.Object({ ...current, work: Type.Union([...leafWork]) });

/** One of several ways that a run goes at once: a branch, or an item of a Map. */
export const Line = Type.Object({
  /** Of a branch: its name; of an item: its index. */
  name: Text,
  current: Nullable(LineCurrent),
  next: Nullable(Next),
  /** What its states wrote, laid over the blackboard; no other line sees it. */
  notes: JsonObject,
  /** Of an item: bytes of its notes, which are not counted among those of the blackboard. */
  bytes: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The result of its last state. */
  last: Nullable(JsonObject),
  /** That its last state took; absent: one. */
  attempts: Type.Optional(Type.Integer({ minimum: 1 })),
  /** What it came to; null: it is at work. */
  end: Nullable(
    Type.Object({
      status: Type.Union([Type.Literal("completed"), Type.Literal("failed")]),
      error: Nullable(Text),
      error_code: Nullable(Text),
      /** It ends the run as well: a limit of the run was reached in this line. */
      whole: Type.Optional(Type.Literal(true)),
    }),
  ),
});
export type Line = Static<typeof Line>;

export const Work = Type.Union([
  ...leafWork,
  Type.Object({ of: Type.Literal("branch"), lines: Type.Array(Line) }),
  Type.Object({ of: Type.Literal("map"), ...mapWork }),
  /** Of a child record of a Map. */
  Type.Object({ of: Type.Literal("batch"), lines: Type.Array(Line), ...batchWork }),
]);
export type Work = Static<typeof Work>;
export type WorkOf<K extends Work["of"]> = Extract<Work, { of: K }>;

export const Current = Type.Object({ ...current, work: Work });
export type Current = Static<typeof Current>;

const noLines: readonly Line[] = [];

/** The lines of a state that goes several ways at once; none of other states. */
export const linesOf = (current: Current | null): readonly Line[] =>
  current !== null && "lines" in current.work ? current.work.lines : noLines;

/** All work under way: of the main line, and of every other one. */
export function worksOf(current: Current | null): readonly Work[] {
  if (current === null) return [];
  return [current.work, ...linesOf(current).flatMap((line) => (line.current === null ? [] : [line.current.work]))];
}
