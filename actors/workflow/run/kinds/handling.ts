/**
 * The output handler of a state: what its output goes through before the result is settled.
 *
 * An agent is started as a child of the run, a webhook is called by an activity. What it answers becomes the output;
 * when it fails, the result says so in `handler_error`, and the state fails only if the handler is required.
 */

import type { OutputHandler } from "../../../agent/manifest/execution/results.ts";
import { trimText } from "../../../execution/trim.ts";
import type { Json } from "../../../kernel/json.ts";
import { listedByUrl } from "../../../policy/network/policy.ts";
import { print } from "../../../template/helpers.ts";
import { TemplateError } from "../../../template/template.ts";
import { type WebhookAnswered, type WebhookCall, webhookCall } from "../activities.ts";
import { startChild } from "../children/children.ts";
import type { StateResult } from "../kind.ts";
import { webhookId } from "../relevance.ts";
import { settle } from "../settling.ts";
import type { RunTurn } from "../turn.ts";
import type { AgentChild, AgentEnd } from "../work.ts";
import { outputValue } from "./agents/agent-result.ts";

const maxErrorBytes = 4096;

/** What became of it. A null `output` leaves the output as it was. */
export type Handled =
  | { readonly ok: true; readonly output: string | null; readonly truncated: boolean }
  | { readonly ok: false; readonly reason: string };

/** The handler at work: its agent; none while a webhook is called; `handled` when it failed at once. */
export type Begun =
  | { readonly children: AgentChild[]; readonly handled: null }
  | { readonly children: readonly []; readonly handled: Handled };

/**
 * Begins to handle an output.
 * @param output the templates' variable `output`
 */
export function beginHandling(run: RunTurn, handler: OutputHandler, output: Json): Begun {
  try {
    return {
      children: handler.type === "agent" ? [startHandler(run, handler, output)] : call(run, handler, output),
      handled: null,
    };
  } catch (error) {
    if (error instanceof TemplateError) return { children: [], handled: { ok: false, reason: error.message } };
    throw error;
  }
}

function startHandler(run: RunTurn, handler: OutputHandler & { type: "agent" }, output: Json): AgentChild {
  const agent = run.render(handler.agent, { output }).trim();
  if (agent === "") throw new TemplateError("The name of the handler's agent is empty");
  const input = run.render(handler.input_template, { output });
  return startChild(run, { role: "output_handler", index: 0, agent, input, timeout_ms: handler.timeout_ms });
}

function call(run: RunTurn, handler: OutputHandler & { type: "webhook" }, output: Json): [] {
  const { url, method, headers, body_template, timeout_ms, max_attempts } = handler;
  const render = (template: string): string => run.render(template, { output });
  const input: WebhookCall = {
    url: render(url),
    listed: [...listedByUrl(url).allowlist],
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(render(value))])),
    body: body_template === null ? print(output) : render(body_template),
    timeout_ms,
    max_attempts,
  };
  run.perform(webhookCall, input, { id: webhookId(run.id, run.current), then: "webhook_answered" });
  return [];
}

/** @throws TemplateError for what no header can carry */
function headerText(text: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text))
    throw new TemplateError("A header of the handler holds more than plain text");
  return text;
}

/** The handler's agent is over. */
export function handledByAgent({ agent, status, output, error }: AgentEnd): Handled {
  if (status === "completed") return { ok: true, output: output ?? "", truncated: false };
  return { ok: false, reason: `The agent ${agent} ended as ${status}${error === null ? "" : ` (${error})`}` };
}

/** The webhook has answered, or has not. An empty answer changes nothing. */
export function handledByWebhook(outcome: WebhookAnswered): Handled {
  if (!outcome.ok) return { ok: false, reason: outcome.message };
  const { output, truncated } = outcome.value;
  return { ok: true, output: output === "" ? null : output, truncated };
}

/**
 * A state's result after its handler.
 * @param replaced the result with another output
 */
export function resultHandled(
  result: StateResult,
  handler: Pick<OutputHandler, "required">,
  handled: Handled,
  replaced: (output: string) => StateResult,
): StateResult {
  if (handled.ok) {
    const { output, truncated } = handled;
    if (output === null) return result;
    return truncated ? { ...replaced(output), truncated } : replaced(output);
  }
  const failure = { handler_error: trimText(handled.reason, maxErrorBytes) };
  if (!handler.required) return { ...result, ...failure };
  return { ...result, status: "failed", error: "output_handler_failed", ...failure };
}

/** The state ends before its handler has. Its agent is among the state's children. */
export function leaveWebhook(run: RunTurn, handler: OutputHandler | null): void {
  if (handler?.type === "webhook") run.abandon(webhookId(run.id, run.current));
}

/**
 * Ends a state whose output was handled; nothing when no handler was at work.
 * @param result as the work kept it when the handler began
 */
export function settleHandled(run: RunTurn, handler: OutputHandler | null, result: Json, handled: Handled): void {
  if (handler === null || result === null) return;
  // Written when the handler began.
  const before = result as StateResult;
  settle(
    run,
    resultHandled(before, handler, handled, (output) => ({ ...before, output: outputValue(output) })),
  );
}
