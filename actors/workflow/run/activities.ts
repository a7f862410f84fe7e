/** The slow or outside work a run asks for, with what goes in and what comes back. */

import { type Static, Type } from "@sinclair/typebox";
import { AgentRuntimeOverrides } from "../../execution/child.ts";
import { Attachment, MountPlan } from "../../execution/start/plan.ts";
import type { Outcome } from "../../kernel/activity.ts";
import { defineActivity } from "../../kernel/activity.ts";
import { AnyJson } from "../../kernel/json.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import { Resources } from "../definition/states.ts";

/** One command, rendered already. */
export const CommandRun = Type.Object({
  /** UUID; names the sandbox. */
  instance_id: Text,
  workflow_name: Text,
  state_name: Text,
  kind: Type.Union([Type.Literal("system"), Type.Literal("container")]),
  argv: Type.Array(Text, { minItems: 1 }),
  env: Type.Record(Text, Text),
  /** Those of its names that are references of the manifest, to be resolved at the launch. */
  secrets: Type.Optional(Type.Array(Text)),
  workdir: Text,
  /** Null: SVC_SYSTEM_IMAGE. */
  image: Nullable(Text),
  image_pull_policy: Type.Union([Type.Literal("Always"), Type.Literal("IfNotPresent"), Type.Literal("Never")]),
  /** Id of the stored credential that the registry is asked with; absent: none. */
  registry_credentials: Type.Optional(Text),
  network: Type.Union([Type.Literal("none"), Type.Literal("default")]),
  resources: Resources,
  timeout_ms: Type.Integer({ minimum: 1 }),
  mounts: Type.Array(MountPlan),
  read_only_root: Type.Boolean(),
  run_as_user: Nullable(Type.Integer()),
  retry: Type.Object({ max_attempts: Type.Integer({ minimum: 1 }), backoff_ms: Nullable(Type.Integer()) }),
});
export type CommandRun = Static<typeof CommandRun>;
export const CommandEnd = Type.Object({
  status: Type.Union([Type.Literal("success"), Type.Literal("failed")]),
  /** Null when it never ran. */
  exit_code: Nullable(Type.Integer()),
  stdout: Text,
  stderr: Text,
  duration_ms: Type.Integer(),
  /** How long sandboxes ran for it, of all attempts together; absent: from an earlier version, which ran one for `duration_ms`. */
  sandbox_ms: Type.Optional(Type.Integer()),
  timed_out: Type.Boolean(),
  truncated: Type.Boolean(),
  attempts: Type.Integer(),
  /** `sandbox_unavailable`, `runtime_unavailable`, `interrupted`, `image_pull_failed`, `out_of_memory`, … */
  error: Nullable(Text),
  warnings: Type.Array(Text),
});
export type CommandEnd = Static<typeof CommandEnd>;

/**
 * Outcome: `command_ended`. Runs one command in one fresh sandbox. Everything is rendered already; no value stands in
 * text that a shell parses. Host bound. It succeeds for every exit code of the command; an outcome that is not ok is for
 * faults of the service itself.
 */
export const commandRun = defineActivity({
  name: "workflow.command",
  version: 4,
  input: CommandRun,
  output: CommandEnd,
});
export type CommandEnded = Outcome<typeof commandRun>;

/** The start of an agent execution. */
export const AgentStart = Type.Object({
  child_execution_id: Text,
  /** UUID or name. */
  agent: Text,
  trigger: Type.Union([Type.Literal("workflow"), Type.Literal("validator"), Type.Literal("output_handler")]),
  input: AnyJson,
  intent: Nullable(Text),
  /** Lowers the agent's own; null: the agent's own. */
  timeout_ms: Nullable(Type.Integer({ minimum: 1 })),
  /** Unix milliseconds; a refusal by rate limit or quota is final from then on. */
  start_by: Type.Integer(),
  overrides: AgentRuntimeOverrides,
  /** What a judge judges; null: it is none. */
  judged: Nullable(
    Type.Object({
      /** The execution whose output it is, and whose volumes the judge sees; null: of no single one. */
      execution_id: Nullable(Text),
      /** Volumes the judge sees where there is no such execution. */
      mounts: Type.Array(MountPlan),
      /** Whether `input` is a judge's usual one, to be completed by what is known of that execution. */
      usual: Type.Boolean(),
    }),
  ),
});
export type AgentStart = Static<typeof AgentStart>;
/**
 * Outcome: `agent_started`. Starts execution `child_execution_id` of an agent as a child of the run; the same again is
 * the same child. A refusal by rate limit or concurrency quota is tried again until `start_by`, or until the work is
 * abandoned.
 */
export const agentStart = defineActivity({
  name: "workflow.agent",
  input: AgentStart,
  output: Type.Object({ agent_id: Text }),
});
export type AgentStarted = Outcome<typeof agentStart>;

/** The start of another workflow's run. */
export const RunStart = Type.Object({
  child_execution_id: Text,
  /** Name or UUID. */
  workflow: Text,
  input: AnyJson,
  attachments: Type.Array(Attachment),
  state_name: Text,
  waits: Type.Boolean(),
});
export type RunStart = Static<typeof RunStart>;
/** Outcome: `run_started`. Starts run `child_execution_id` of another workflow below this one; repeatable. */
export const runStart = defineActivity({
  name: "workflow.start",
  input: RunStart,
  output: Type.Object({ workflow_id: Text, workflow_name: Text }),
});
export type RunStarted = Outcome<typeof runStart>;

/** The call of an output handler's address, with a body that is rendered already. */
export const WebhookCall = Type.Object({
  url: Text,
  /** The addresses off the open internet that the manifest itself writes; absent in calls of earlier versions: none. */
  listed: Type.Optional(Type.Array(Text)),
  method: Text,
  headers: Type.Record(Text, Text),
  body: Text,
  timeout_ms: Type.Integer({ minimum: 1 }),
  max_attempts: Type.Integer({ minimum: 1 }),
});
export type WebhookCall = Static<typeof WebhookCall>;
/** Outcome: `webhook_answered`. */
export const webhookCall = defineActivity({
  name: "workflow.webhook",
  input: WebhookCall,
  output: Type.Object({ output: Text, truncated: Type.Boolean() }),
});
export type WebhookAnswered = Outcome<typeof webhookCall>;

/** Outcome: `cleaned_up`. Lets go what a run had mounted and removes these volumes of it; repeatable. */
export const cleanup = defineActivity({
  name: "workflow.cleanup",
  input: Type.Object({ execution_id: Text, volume_ids: Type.Array(Text) }),
  output: AnyJson,
});
