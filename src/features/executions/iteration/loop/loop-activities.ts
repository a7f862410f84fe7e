/** The activities of the inner loop: asking the model, and running one tool. */

import type { Static, TSchema } from "@sinclair/typebox";
import { onFleet } from "../../../../../actors/edge/host-calls.ts";
import type { ToolAnswer } from "../../../../../actors/execution/activities.ts";
import {
  callClear,
  type ModelCallInput,
  type ModelFailure,
  modelCall,
  type ToolCallInput,
  toolCall,
} from "../../../../../actors/execution/activities.ts";
import { execution } from "../../../../../actors/execution/execution.ts";
import { answerSchema } from "../../../../../actors/execution/judging/validator-result.ts";
import { conversationOf, newsOf, preamble } from "../../../../../actors/execution/loop/conversation.ts";
import { rateWarning } from "../../../../../actors/execution/loop/own-limits.ts";
import { type ChatMessage, LoopEntry } from "../../../../../actors/execution/messages.ts";
import type { Plan } from "../../../../../actors/execution/start/plan.ts";
import type { LogDefinition } from "../../../../../actors/kernel/effect.ts";
import { defineLog } from "../../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { workspace } from "../../../../../actors/policy/security/paths.ts";
import { CMD_RUN } from "../../../../../actors/tool/catalog.ts";
import { type ModelCall, ModelError, type ModelMessage, type Models } from "../../../../adapters/models/port.ts";
import { derivedUuid } from "../../../../lib/digest.ts";
import {
  type Activity,
  type Address,
  implement,
  isServiceAway,
  type LogEntry,
  type Runtime,
  Terminal,
} from "../../../../runtime/port.ts";
import { type Call, isCleared, type Pipeline, withTarget } from "../../../pipeline/port.ts";
import { outcomeOf, type RegisteredTool, ToolFailure, type ToolOutcome } from "../../../tools/port.ts";
import type { RequireListed } from "../../directory.ts";
import type { Plans } from "../../plans.ts";
import { callerOf } from "./loop-caller.ts";
import { answerOf, judgeReply, loopCall } from "./loop-policy.ts";
import type { ModelMetrics } from "./model-metrics.ts";
import { admitCall, type ModelRates } from "./model-rates.ts";
import { modelWarnings } from "./model-warnings.ts";

const pageSize = 500;

export interface LoopOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly pipeline: Pick<Pipeline, "clear" | "run" | "effective">;
}

export interface ModelCallOptions extends LoopOptions {
  readonly models: Models;
  readonly metrics: Pick<ModelMetrics, "answered" | "failed">;
  readonly rates: ModelRates;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function modelCallActivity(options: ModelCallOptions): Activity {
  const { runtime, plans, models, pipeline, metrics, rates, newId } = options;
  return implement(
    modelCall,
    {
      // Waiting for a vendor costs a node next to nothing.
      concurrency: 256,
      retry: { attempts: 3, firstDelayMs: 500 },
      atHand: true,
    },
    async (work, { actor, signal }) => {
      const { tenant } = actor;
      const [call, plan, entries] = await Promise.all([
        admitCall(rates, tenant, work),
        plans.of(actor),
        readLog(runtime, actor, defineLog(work.log, LoopEntry), work.from, work.upto),
      ]);
      const { who, policy } = callerOf(work, plan);
      const offered = work.last === true ? [] : await pipeline.effective(tenant, who, policy);
      const mayAddress = offered.some(({ name }) => name === onFleet);
      const shown = offered
        .filter(({ always }) => always !== true)
        .map((tool) => describe(mayAddress ? withTarget(tool) : tool));
      const conversation = conversationOf(entries.map(({ entry }) => entry));
      try {
        const reply = await models.generate({
          alias: work.alias,
          messages: [{ role: "system", content: systemOf(work, shown) }, ...conversation.map(modelMessage)],
          tools: shown,
          ...(work.answer_schema === true ? responseSchema(plan) : {}),
          ...(work.temperature === null ? {} : { temperature: work.temperature }),
          budgetMs: work.budget_ms,
          signal,
          agentName: work.agent_name,
          iteration: work.iteration,
        });
        metrics.answered(reply);
        const toolCalls = reply.toolCalls.map((one) => ({ ...one, arguments: jsonObject(one.arguments) }));
        const toCall = (tool: string, given: Call["arguments"]) =>
          loopCall(tenant, work, plan, { tool, given, invocationId: newId(), signal });
        const [settled, judged] = await Promise.all([
          call.settle({ usage: reply.usage }),
          judgeReply(pipeline, toolCalls, toCall, signal),
        ]);
        const warned = [...settled, ...judged.warnings];
        return {
          ...(warned.length === 0 ? {} : { rate_warnings: warned.map(rateWarning) }),
          ...(toolCalls.length === 0 ? {} : { clearances: [...judged.clearances] }),
          provider: reply.provider,
          model: reply.model,
          content: reply.content,
          tool_calls: toolCalls,
          finish_reason: reply.finishReason,
          usage: { ...reply.usage },
          cost_usd: reply.costUsd,
          prompt: newsOf(conversation),
          warnings: modelWarnings(reply).map((warning) => ({ ...warning })),
        };
      } catch (error) {
        metrics.failed(error);
        if (error instanceof ModelError) throw new Terminal("model_error", error.message, failureOf(error));
        throw error;
      }
    },
  );
}

/** What a model is shown of a tool. */
const describe = ({ name, description, inputSchema }: RegisteredTool) => ({ name, description, inputSchema });

/** The service's own words; of work that a former version asked for, those of then. */
function systemOf(
  { system, agent_name, has_files }: ModelCallInput,
  shown: readonly { readonly name: string }[],
): string {
  const names = shown.map(({ name }) => name);
  return system ?? preamble(agent_name, names, has_files);
}

/** A program in the bootstrap's place may ask its model for anything: only its output is held to the schema. */
function responseSchema({ validators, bootstrap_path }: Plan): Pick<ModelCall, "responseSchema"> {
  const schema = bootstrap_path === null ? validators.map(answerSchema).find((one) => one !== null) : undefined;
  return schema ? { responseSchema: schema } : {};
}

function failureOf({ errorClass, facts }: ModelError): ModelFailure {
  return {
    error_class: errorClass,
    provider: facts.provider,
    model: facts.model,
    attempts: facts.attempts,
    elapsed_ms: facts.elapsedMs,
    fallback_attempted: facts.fallbackAttempted,
    ...(facts.retryAfterSeconds === undefined ? {} : { retry_after_seconds: facts.retryAfterSeconds }),
  };
}

/** The port types messages by role; the log holds them in one shape. */
function modelMessage({ role, content, tool_call_id, tool_calls }: ChatMessage): ModelMessage {
  if (role === "tool") return { role, content, tool_call_id: tool_call_id ?? "" };
  if (role === "assistant") return { role, content, ...(tool_calls === undefined ? {} : { tool_calls }) };
  return { role, content };
}

export function toolCallActivity({ runtime, plans, pipeline }: LoopOptions): Activity {
  return implement(
    toolCall,
    {
      // Tools that wait for the end of other work hold a place, and that work has calls of its own.
      concurrency: 1024,
      retry: { attempts: 3, firstDelayMs: 200 },
    },
    async (work, { actor, signal, id, resumed }) => {
      const call = await callOfWork({ runtime, plans }, work, { actor, signal, id });
      // Cleared with the model's reply; what has changed since binds as well.
      const [judged] = await pipeline.clear([call], true);
      if (judged === undefined) throw new Error("the call was not judged");
      // Whether it was reached before its node died is not known: what may be done twice is, all else is not.
      // One on a host joins the run that it has begun.
      const isRepeatable =
        work.repeatable ||
        (isCleared(judged) && (judged.target !== null || judged.tool.readOnly || judged.tool.idempotent));
      if (resumed && !isRepeatable) return { ...interrupted };
      if (!isCleared(judged)) return answerOf(judged.clearance);
      try {
        const outcome = await pipeline.run(call, judged, work.approved === true);
        return outcome.status === "waiting" ? outcome : toolAnswer(outcome);
      } catch (error) {
        if (signal.aborted || (isRepeatable && isServiceAway(error))) throw error;
        // A bug in one tool must not stop the agent, nor tell it how the host looks inside.
        return toolAnswer(outcomeOf(new ToolFailure("storage_error", "The tool failed inside the service")));
      }
    },
  );
}

/**
 * Judges a call that was held up, or a command just before the bootstrap is to run it: people have approved it, or its
 * working directory is held to rules. There is no other work that would.
 */
export function callClearActivity({
  runtime,
  plans,
  pipeline,
  requireListed,
}: LoopOptions & { readonly requireListed: RequireListed }): Activity {
  return implement(
    callClear,
    { concurrency: 256, retry: { attempts: 5, firstDelayMs: 200 }, atHand: true },
    async (work, { actor, signal, id }) => {
      const call = await callOfWork({ runtime, plans }, work, { actor, signal, id });
      const [judged] = await pipeline.clear([call], true);
      if (judged === undefined) throw new Error("the call was not judged");
      if (!isCleared(judged)) return answerOf(judged.clearance);
      const { max_timeout_secs, approvals } = judged.clearance;
      const passed = { status: "cleared" as const, max_timeout_secs, approvals: [...approvals] };
      if (judged.tool.name !== CMD_RUN || judged.target !== null) return passed;
      const { cwd = workspace } = judged.arguments;
      try {
        const { pathRules } = judged.bounds;
        await requireListed({ tenant: actor.tenant, executionId: actor.key, cwd: String(cwd), pathRules });
      } catch (error) {
        if (signal.aborted || isServiceAway(error)) throw error;
        return toolAnswer(outcomeOf(error));
      }
      return passed;
    },
  );
}

/** @param of the activity: where its actor is, and its id for work of former versions */
export async function callOfWork(
  { runtime, plans }: Pick<LoopOptions, "runtime" | "plans">,
  work: ToolCallInput,
  { actor, signal, id }: { readonly actor: Address; readonly signal: AbortSignal; readonly id: string },
): Promise<Call> {
  const seq = work.edited ?? work.seq;
  const [plan, [entry]] = await Promise.all([
    plans.of(actor),
    readLog(runtime, actor, defineLog(work.log, LoopEntry), seq, seq),
  ]);
  const given = jsonObject(argumentsOf(entry?.entry ?? null, work.call_id));
  const invocationId = work.invocation_id ?? derivedUuid(id);
  return loopCall(actor.tenant, work, plan, { tool: work.tool, given, invocationId, signal });
}

const interrupted: ToolOutcome & { status: "failed" } = {
  status: "failed",
  code: "interrupted",
  message: "The service was restarted while this call was under way; whether it took effect is not known",
};

/** The arguments of a call in a logged assistant message, or in what an approver made of them. */
export function argumentsOf(entry: LoopEntry | null, callId: string): Readonly<Record<string, unknown>> {
  if (entry?.entry === "edit") return entry.call_id === callId ? entry.arguments : {};
  const calls = entry?.entry === "message" ? (entry.message.tool_calls ?? []) : [];
  return calls.find(({ id }) => id === callId)?.arguments ?? {};
}

/** Entries `from`..`upto` of a log, both included. */
export async function readLog<Entry extends TSchema>(
  runtime: Pick<Runtime, "of">,
  { tenant, key }: Address,
  log: LogDefinition<Entry>,
  from: number,
  upto: number,
): Promise<LogEntry<Static<Entry>>[]> {
  const actor = runtime.of(execution).at(tenant, key);
  const entries: LogEntry<Static<Entry>>[] = [];
  for (let after = from - 1; after < upto; after = entries.at(-1)?.seq ?? upto) {
    const page = await actor.log(log, after, Math.min(pageSize, upto - after));
    if (page.length === 0) break;
    entries.push(...page);
  }
  return entries;
}

/** The outcome of a tool as plain JSON. */
function toolAnswer(outcome: ToolOutcome): ToolAnswer {
  return JSON.parse(JSON.stringify(outcome));
}

/** What came from outside or from a tool as plain JSON. */
function jsonObject(value: object): { [key: string]: Json } {
  return JSON.parse(JSON.stringify(value));
}
