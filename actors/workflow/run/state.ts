/** What a workflow run is made of between two turns. */
import { type Static, Type } from "@sinclair/typebox";
import { Attachment, MountPlan } from "../../execution/start/plan.ts";
import { Starter } from "../../identity/starter.ts";
import { AnyJson, JsonObject } from "../../kernel/json.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import { Ceilings } from "../../policy/ceilings.ts";
import { CountedFor } from "../../policy/rates/counted.ts";
import { Definition, Judge } from "../definition.ts";

/** Unix milliseconds. */
const Moment = Type.Integer();

export const RunStatus = Type.Union([
  Type.Literal("pending"),
  Type.Literal("running"),
  Type.Literal("completed"),
  Type.Literal("failed"),
  Type.Literal("cancelled"),
  Type.Literal("timed_out"),
]);
export type RunStatus = Static<typeof RunStatus>;

/** Who set something going; `kind` is an identity's kind, or `agent`, `webhook`, `workflow`. */
export const Initiator = Type.Object({
  kind: Text,
  sub: Text,
  email: Nullable(Text),
  /** That vouches for `sub`; absent: no realm does, or an earlier version stored it. */
  realm: Type.Optional(Text),
});
export type Initiator = Static<typeof Initiator>;

export const RunHeader = Type.Object({
  workflow_id: Text,
  workflow_name: Text,
  workflow_version: Text,
  /** Slug. */
  tenant_id: Text,
  intent: Text,
  attachments: Type.Array(Attachment),
  initiated_by: Initiator,
  /** For whom the management tools of what it starts act; absent: there are none. */
  starter: Type.Optional(Starter),
  /** Security contexts that bind what it starts beside their own; absent: none. */
  context_ceilings: Type.Optional(Ceilings),
  /** Whose rates the executions that it starts count in beside the tenant's. */
  counted_for: Type.Optional(CountedFor),
  /** Claimed by a consumer who set it going: what the run starts has the quotas of that tier. Null: the tenant's own. */
  tier: Type.Optional(Nullable(Text)),
  /** Of what it starts: an agent that names none gets this one. Null: the agent's default. */
  security_context: Nullable(Text),
  /** Blocking parents wait for the end. */
  parent: Nullable(Type.Object({ execution_id: Text, state_name: Text, waits: Type.Boolean() })),
  /** Generations below the root; its own id when it is the root. */
  depth: Type.Integer({ minimum: 0 }),
  root_execution_id: Text,
  /** Runs above it, the root first. */
  path: Type.Array(Text),
  retry_of: Nullable(Text),
  stimulus_id: Nullable(Text),
  /** Of the whole run; null: none. */
  timeout_ms: Nullable(Type.Integer({ minimum: 1 })),
  /** Where the run's volumes are mounted in every sandbox: the workspace at `/workspace`, others by name. */
  volumes: Type.Array(MountPlan),
});
export type RunHeader = Static<typeof RunHeader>;

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

/** Progress of the current state, by its kind. */
export const Work = Type.Union([
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
]);
export type Work = Static<typeof Work>;
export type WorkOf<K extends Work["of"]> = Extract<Work, { of: K }>;

export const Current = Type.Object({
  name: Text,
  /** How often this state has been entered, this time included. */
  visit: Type.Integer({ minimum: 1 }),
  /** Unique in the run: counts every entry. Timers and outcomes of an earlier entry are told by it. */
  entry: Type.Integer({ minimum: 1 }),
  entered_at: Moment,
  /** Of the state; null: none. */
  deadline_at: Nullable(Moment),
  work: Work,
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
});
export type Current = Static<typeof Current>;

export const RunEnding = Type.Object({
  at: Moment,
  final_output: AnyJson,
  error: Nullable(Text),
  error_code: Nullable(Text),
  /** Of a cancellation. */
  reason: Nullable(Text),
  summary: Nullable(Text),
});
export type RunEnding = Static<typeof RunEnding>;

/** What a person should know of a run that goes on all the same. */
const RunWarning = Type.Object({
  /** Such as `template_path_missing`. */
  code: Text,
  message: Text,
  /** The state at work then; null: between states, or at the end. */
  state_name: Nullable(Text),
  at: Moment,
});

/**
 * Members that lists show stand beside the bulky ones (`definition`, `input`, `blackboard`), so that they can be
 * read without them.
 */
export const RunState = Type.Object({
  header: RunHeader,
  status: RunStatus,
  started_at: Moment,
  deadline_at: Nullable(Moment),
  paused_at: Nullable(Moment),
  last_transition_at: Moment,
  /** Null between two states (while paused) and after the end. */
  current: Nullable(Current),
  /** The last state entered; stays after the end. */
  current_state: Nullable(Text),
  /** Decided while paused: entered on resume. */
  next: Nullable(Type.Object({ target: Text, feedback: Nullable(Text) })),
  /** Entries per state. */
  visits: Type.Record(Text, Type.Integer()),
  transition_count: Type.Integer({ minimum: 0 }),
  /** States that have a result on the blackboard, in the order of their first one. */
  outputs: Type.Array(Text),
  /** The first ones; absent where there is none. */
  warnings: Type.Optional(Type.Array(RunWarning)),
  ending: Nullable(RunEnding),
  definition: Definition,
  input: AnyJson,
  /** System keys included, as docs/reference/workflows.md lists them. */
  blackboard: JsonObject,
  /** Of the blackboard as JSON, kept so that the whole is not measured again. */
  blackboard_bytes: Type.Integer({ minimum: 0 }),
});
export type RunState = Static<typeof RunState>;

export const isOver = ({ status }: Pick<RunState, "status">): boolean => status !== "pending" && status !== "running";

/** Names of a run's timers. */
export const DEADLINE = "deadline";
export const stateTimer = (entry: number): string => `state:${entry}`;
