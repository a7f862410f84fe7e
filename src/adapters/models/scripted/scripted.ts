/**
 * The deterministic provider: no network, replies from a script in the prompt, from rules, or the prompt
 * itself. It goes through the same calls as a vendor, retries included, and is for development and tests.
 */
import { Value } from "@sinclair/typebox/value";
import { shapeIssues } from "../../../../actors/kernel/shape-issues.ts";
import { type Attempt, AttemptError, type AttemptReply, type Provider } from "../attempt.ts";
import { firstRule, type Rule, ScriptReply, type Situation } from "./script-rules.ts";
import { compileTemplate, renderTemplate, TemplateProblem, type TemplateValues } from "./script-template.ts";

export interface ScriptedOptions {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** Resolves after `ms`; rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** A provider that answers from scripts. */
export function createScripted(options: ScriptedOptions): Provider {
  return {
    name: options.name,
    async attempt(attempt) {
      const situation = situationOf(attempt);
      const found = replyFor(situation, options.rules);
      if (!found)
        return {
          content: situation.prompt,
          toolCalls: [],
          finishReason: "stop",
          truncated: false,
          streamed: true,
          usage: {},
        };
      const { reply, values } = found;
      if (reply.delay_ms) await options.sleep(reply.delay_ms, attempt.signal);
      const failing = reply.error?.attempts ?? "all";
      if (reply.error && (failing === "all" || attempt.number <= failing)) {
        throw new AttemptError(reply.error.class, `the script asks for a failure of class ${reply.error.class}`);
      }
      return toReply(reply, values, situation.round);
    },
  };
}

/**
 * The script block of a prompt: the last fenced block labelled `svc-script`, or null. What stands before it
 * may be anything, unclosed fences included, because earlier attempts are put in front of a prompt.
 */
export function scriptBlock(prompt: string): string | null {
  const openings = [...prompt.matchAll(/^ {0,3}(`{3,}|~{3,})[ \t]*svc-script[ \t]*\r?$/gm)];
  const opening = openings.at(-1);
  if (!opening) return null;
  const fence = opening[1] ?? "";
  const lines = prompt.slice(opening.index + opening[0].length + 1).split(/\r?\n/);
  // A fence that is never closed runs to the end of the text.
  const end = lines.findIndex((line) => line.trim().startsWith(fence) && /^ {0,3}(`+|~+)\s*$/.test(line));
  return (end < 0 ? lines : lines.slice(0, end)).join("\n");
}

function situationOf({ call }: Attempt): Situation {
  const last = call.messages.at(-1);
  return {
    alias: call.alias,
    agent: call.agentName,
    iteration: call.iteration,
    round: call.messages.filter((message) => message.role === "assistant").length,
    prompt: call.messages.find((message) => message.role === "user")?.content ?? "",
    last: last?.content ?? "",
    lastRole: last?.role ?? "",
  };
}

function replyFor(now: Situation, rules: readonly Rule[]): { reply: ScriptReply; values: TemplateValues } | null {
  const { alias, agent, iteration, round, prompt, last } = now;
  const block = scriptBlock(prompt);
  const inline = block === null ? null : inlineReply(block, now);
  if (inline) return { reply: inline, values: { last, iteration, round } };
  const rule = firstRule(rules, now);
  if (rule) return { reply: rule.reply, values: { prompt, last, iteration, round, alias, agent, match: rule.match } };
  return null;
}

/** The reply of a script block for this moment; null when it has none for this iteration. */
function inlineReply(block: string, now: Situation): ScriptReply | null {
  let script: unknown;
  try {
    script = JSON.parse(block);
  } catch {
    throw malformed("it is no JSON");
  }
  if (Array.isArray(script)) return byRound(checked(script, ""), now.round);
  if (typeof script !== "object" || script === null) throw malformed("it is neither an array nor an object");
  const byIteration = new Map<string, readonly ScriptReply[]>();
  for (const [key, value] of Object.entries(script)) {
    if (!/^([1-9]\d*|\*)$/.test(key)) throw malformed(`${JSON.stringify(key.slice(0, 40))} is no iteration number`);
    byIteration.set(key, checked(Array.isArray(value) ? value : [value], `${key}.`));
  }
  if (byIteration.size === 0) throw malformed("it holds no reply");
  const replies = byIteration.get(String(now.iteration)) ?? byIteration.get("*");
  return replies ? byRound(replies, now.round) : null;
}

function checked(replies: readonly unknown[], path: string): readonly ScriptReply[] {
  if (replies.length === 0) throw malformed("it holds no reply");
  return replies.map((reply, index) => {
    if (Value.Check(ScriptReply, reply)) return reply;
    const [issue] = shapeIssues(Value.Errors(ScriptReply, reply), 1);
    const at = issue === undefined || issue.path === "" ? "" : `.${issue.path.slice(0, 80)}`;
    throw malformed(`${path}${index}${at} ${issue?.message ?? "does not fit"}`);
  });
}

function byRound(replies: readonly ScriptReply[], round: number): ScriptReply | null {
  return replies[round] ?? replies.at(-1) ?? null;
}

function toReply(reply: ScriptReply, values: TemplateValues, round: number): AttemptReply {
  const calls = (reply.tool_calls ?? []).map((call, index) => ({
    id: `call_${round}_${index}`,
    name: call.name,
    arguments: call.arguments ?? {},
  }));
  return {
    content: rendered(reply.content ?? "", values),
    toolCalls: calls,
    finishReason: calls.length > 0 ? "tool_calls" : "stop",
    truncated: false,
    streamed: true,
    usage: {
      ...(reply.usage?.input_tokens === undefined ? {} : { input_tokens: reply.usage.input_tokens }),
      ...(reply.usage?.output_tokens === undefined ? {} : { output_tokens: reply.usage.output_tokens }),
    },
  };
}

function rendered(source: string, values: TemplateValues): string {
  try {
    return renderTemplate(compileTemplate(source), values);
  } catch (error) {
    if (error instanceof TemplateProblem) throw malformed(error.message);
    throw error;
  }
}

function malformed(why: string): AttemptError {
  return new AttemptError("invalid_input", `the svc-script block is malformed: ${why}`);
}
