/** What a workflow run is made of between two turns. */
import { type Static, Type } from "@sinclair/typebox";
import { Attachment, MountPlan } from "../../execution/start/plan.ts";
import { Starter } from "../../identity/starter.ts";
import { AnyJson, JsonObject } from "../../kernel/json.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import { Ceilings } from "../../policy/ceilings.ts";
import { CountedFor } from "../../policy/rates/counted.ts";
import { Definition } from "../definition.ts";
import { BufferedSignal, HeardSignal, ItemWait } from "./signals/messages.ts";
import { Current, Moment, Next } from "./work.ts";

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

/** A deployer, and the tenant in which it deployed. */
export const DeployedBy = Type.Object({ starter: Starter, tenant: Text });
export type DeployedBy = Static<typeof DeployedBy>;

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
  /** That its workflow names for calls of its own; absent: none, and the one above counts. */
  own_context: Type.Optional(Text),
  /** Who deployed the workflow, where it names a security context of its own. Absent: that is not known. */
  deployed_by: Type.Optional(DeployedBy),
  /** Blocking parents wait for the end. */
  parent: Nullable(
    Type.Object({
      execution_id: Text,
      state_name: Text,
      waits: Type.Boolean(),
      /** The child record of items that hears of this run in place of its parent; absent: none. */
      told: Type.Optional(Text),
    }),
  ),
  /** Generations below the root; its own id when it is the root. */
  depth: Type.Integer({ minimum: 0 }),
  root_execution_id: Text,
  /** Runs above it, the root first. */
  path: Type.Array(Text),
  retry_of: Nullable(Text),
  stimulus_id: Nullable(Text),
  /** The run whose log this one was made from; absent: none. */
  forked_from: Type.Optional(Nullable(Text)),
  /** The run that this one follows by `continue_as`; absent: none. */
  continued_from: Type.Optional(Nullable(Text)),
  /** Whether the start named the very version; absent: it took the latest one. */
  pinned: Type.Optional(Type.Boolean()),
  /** The schedule that started it; absent: none. */
  schedule_id: Type.Optional(Nullable(Text)),
  /** Set on the child record of items of a Map: it is no run of its own, and is neither listed nor counted. */
  batch: Type.Optional(
    Type.Object({
      run_id: Text,
      state_name: Text,
      visit: Type.Integer({ minimum: 1 }),
      /** Of the run's entry into the Map. */
      entry: Type.Integer({ minimum: 1 }),
      /** Which attempt at the Map within that entry; absent: the first. */
      attempt: Type.Optional(Type.Integer({ minimum: 1 })),
      /** Index of its first item. */
      first: Type.Integer({ minimum: 0 }),
    }),
  ),
  /** Of the whole run; null: none. */
  timeout_ms: Nullable(Type.Integer({ minimum: 1 })),
  /** Where the run's volumes are mounted in every sandbox: the workspace at `/workspace`, others by name. */
  volumes: Type.Array(MountPlan),
});
export type RunHeader = Static<typeof RunHeader>;

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

/** A successful visit of a state that another one undoes, and the name of that one. */
const undoing = { name: Text, visit: Type.Integer({ minimum: 1 }), by: Text };

/** What there is to undo should the run come to a bad end. */
export const Undo = Type.Object({
  ...undoing,
  /** Of the visit; null: it stands on the blackboard, as the last one of its state. */
  result: Nullable(JsonObject),
});
export type Undo = Static<typeof Undo>;

/** What a run has come to, before its compensations and after them. */
export const CameTo = Type.Object({
  status: Type.Union([Type.Literal("failed"), Type.Literal("cancelled"), Type.Literal("timed_out")]),
  error: Nullable(Text),
  error_code: Nullable(Text),
  reason: Nullable(Text),
  summary: Nullable(Text),
});
export type CameTo = Static<typeof CameTo>;

const Compensation = Type.Object({
  status: Type.Union([Type.Literal("running"), Type.Literal("done"), Type.Literal("failed")]),
  /** The end that the run has come to, and when. */
  end: CameTo,
  at: Moment,
  /** What is not undone, in the order of its turn; the first one is at work while compensations run. */
  remaining: Type.Array(Type.Object(undoing)),
  /** Entries into states while compensations run. */
  visits: Type.Record(Text, Type.Integer()),
});
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
  next: Nullable(Next),
  /** Entries per state. */
  visits: Type.Record(Text, Type.Integer()),
  transition_count: Type.Integer({ minimum: 0 }),
  /** All entries, those of compensations and items too; absent: as many as transitions. */
  entries: Type.Optional(Type.Integer({ minimum: 0 })),
  /** States that have a result on the blackboard, in the order of their first one. */
  outputs: Type.Array(Text),
  /** The first ones; absent where there is none. */
  warnings: Type.Optional(Type.Array(RunWarning)),
  ending: Nullable(RunEnding),
  /** Set once compensations are due. */
  compensation: Type.Optional(Compensation),
  /** The run that follows this one by `continue_as`. */
  continued_as: Type.Optional(Text),
  /** Of a run that follows another one: how often the work of its admission died without an answer; absent: never. */
  admission_deaths: Type.Optional(Type.Integer({ minimum: 1 })),
  /** In the order of the visits; absent: nothing. */
  undo: Type.Optional(Type.Array(Undo)),
  /** Of results in `undo` as JSON. */
  undo_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Whether all that is written to the blackboard is on record; absent: an earlier version began the run. */
  recorded: Type.Optional(Type.Literal(true)),
  /** Of a run at a Map: the items that no child record was given. Of a child record: its items, null once they ended well. */
  items: Type.Optional(Type.Array(AnyJson)),
  /** Came before their Waits, oldest first; absent: none. */
  signals: Type.Optional(Type.Array(BufferedSignal)),
  /** The last signals that may be repeated. */
  heard: Type.Optional(Type.Array(HeardSignal)),
  /** Items of the Map at work that wait for signals, in the order in which they began to. */
  item_waits: Type.Optional(Type.Array(ItemWait)),
  definition: Definition,
  input: AnyJson,
  /** System keys included, as docs/reference/workflows.md lists them. */
  blackboard: JsonObject,
  /** Of the blackboard and the notes of lines as JSON, kept so that the whole is not measured again. */
  blackboard_bytes: Type.Integer({ minimum: 0 }),
});
export type RunState = Static<typeof RunState>;

/** Whether the run has come to its end and undoes what it did. */
export const isCompensating = ({ status, compensation }: Pick<RunState, "status" | "compensation">): boolean =>
  status === "running" && compensation?.status === "running";

export const isOver = ({ status }: Pick<RunState, "status">): boolean => status !== "pending" && status !== "running";

/** Names of a run's timers. */
export const DEADLINE = "deadline";
export const stateTimer = (entry: number): string => `state:${entry}`;
export const callTimer = (entry: number): string => `call:${entry}`;
export const retryTimer = (entry: number): string => `retry:${entry}`;
