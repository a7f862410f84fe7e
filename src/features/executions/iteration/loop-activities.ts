/** The activities of the inner loop: asking the model, and running one tool. */

import type { Static, TSchema } from "@sinclair/typebox";
import type { ToolAnswer } from "../../../../actors/execution/activities.ts";
import { type ModelFailure, modelCall, toolCall } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { answerSchema } from "../../../../actors/execution/judging/validator-result.ts";
import { conversationOf, newsOf } from "../../../../actors/execution/loop/conversation.ts";
import { type ChatMessage, LoopEntry } from "../../../../actors/execution/messages.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import type { LogDefinition } from "../../../../actors/kernel/effect.ts";
import { defineLog } from "../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { type ModelCall, ModelError, type ModelMessage, type Models } from "../../../adapters/models/port.ts";
import {
  type Activity,
  type Address,
  implement,
  isServiceAway,
  type LogEntry,
  type Runtime,
  Terminal,
} from "../../../runtime/port.ts";
import { outcomeOf, type RegisteredTool, ToolFailure, type ToolOutcome, type ToolRegistry } from "../../tools/port.ts";
import type { Plans } from "../plans.ts";
import { callerOf, unbounded } from "./loop-caller.ts";
import type { ModelMetrics } from "./model-metrics.ts";
import { admitCall, type ModelRates } from "./model-rates.ts";
import { modelWarnings } from "./model-warnings.ts";

const pageSize = 500;

export interface LoopOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly models: Models;
  readonly tools: ToolRegistry;
  readonly metrics: Pick<ModelMetrics, "answered" | "failed">;
}

export interface ModelCallOptions extends LoopOptions {
  readonly rates: ModelRates;
}

export function modelCallActivity({ runtime, plans, models, tools, metrics, rates }: ModelCallOptions): Activity {
  return implement(
    modelCall,
    {
      // Waiting for a vendor costs a node next to nothing.
      concurrency: 256,
      retry: { attempts: 3, firstDelayMs: 500 },
    },
    async (work, { actor, signal }) => {
      const [call, offered, entries] = await Promise.all([
        admitCall(rates, actor.tenant, work),
        tools.of(actor.tenant),
        readLog(runtime, actor, defineLog(work.log, LoopEntry), work.from, work.upto),
      ]);
      const conversation = conversationOf(entries.map(({ entry }) => entry));
      try {
        const reply = await models.generate({
          alias: work.alias,
          messages: [{ role: "system", content: work.system }, ...conversation.map(modelMessage)],
          tools: work.tools.flatMap((name) => offered.find(name) ?? []).map(describe),
          ...(work.answer_schema === true ? responseSchema(await plans.of(actor)) : {}),
          ...(work.temperature === null ? {} : { temperature: work.temperature }),
          budgetMs: work.budget_ms,
          signal,
          agentName: work.agent_name,
          iteration: work.iteration,
        });
        metrics.answered(reply);
        const toolCalls = reply.toolCalls.map((one) => ({ ...one, arguments: jsonObject(one.arguments) }));
        const settled = await call.settle({ usage: reply.usage, tool_calls: toolCalls });
        return {
          ...settled,
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

export function toolCallActivity({
  runtime,
  plans,
  tools,
}: Pick<LoopOptions, "runtime" | "plans" | "tools">): Activity {
  return implement(
    toolCall,
    {
      // Tools that wait for the end of other work hold a place, and that work has calls of its own.
      concurrency: 1024,
      retry: { attempts: 3, firstDelayMs: 200 },
    },
    async (work, { actor, signal, id, resumed }) => {
      if (resumed && !work.repeatable) return { ...interrupted };
      const [plan, [entry]] = await Promise.all([
        plans.of(actor),
        readLog(runtime, actor, defineLog(work.log, LoopEntry), work.edited ?? work.seq, work.edited ?? work.seq),
      ]);
      const given = argumentsOf(entry?.entry ?? null, work.call_id);
      try {
        const outcome = await tools.call({
          name: work.tool,
          arguments: given,
          tenant: actor.tenant,
          executionId: work.execution_id,
          invocationId: id,
          idempotencyKey: id,
          ...callerOf(work, plan),
          bounds: unbounded,
          signal,
        });
        return toolAnswer(outcome);
      } catch (error) {
        if (signal.aborted || (work.repeatable && isServiceAway(error))) throw error;
        // A bug in one tool must not stop the agent, nor tell it how the host looks inside.
        return toolAnswer(outcomeOf(new ToolFailure("storage_error", "The tool failed inside the service")));
      }
    },
  );
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
