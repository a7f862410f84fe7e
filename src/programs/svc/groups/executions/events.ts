/** One event of an execution as people read it. */
import type { Schemas } from "../../../client/client.ts";
import { duration } from "../../output/cells.ts";
import type { Colours } from "../../output/colours.ts";
import { lines, type Safe, say } from "../../output/inert.ts";

type Members<U> = U extends unknown ? keyof U : never;
type Name = Members<Schemas["ExecutionEvent"]>;
type Body<N extends Name> = Extract<Schemas["ExecutionEvent"], Readonly<Record<N, unknown>>>[N];
type Tellers = { readonly [N in Name]?: (body: Body<N>, colours: Colours) => Safe | null };

/** Events that are not here are for programs: `--json` has them all. */
const tellers: Tellers = {
  iteration_started: ({ iteration_number }, { bold }) =>
    iteration_number > 1 ? say`${bold(`Attempt ${iteration_number}`)}` : null,
  iteration_restarted: ({ reason }, { yellow }) => say`${yellow("↻")} begins again: ${reason}`,
  iteration_rejected: ({ validator, score, feedback }, { yellow }) =>
    say`${yellow("✗")} not accepted by ${validator} (score ${score})${feedback === null ? "" : `: ${feedback}`}`,
  iteration_failed: ({ error }, { red }) => say`${red("✗")} ${error.message} (${error.code})`,
  llm_interaction: ({ model, input_tokens, output_tokens, response }, { dim }) =>
    say`${dim(`· ${model}, ${input_tokens} → ${output_tokens} tokens`)}${response === null ? "" : ` ${response}`}`,
  llm_call_failed: ({ model, message, attempts }, { yellow }) =>
    say`${yellow("!")} ${model} failed after ${attempts} attempts: ${message}`,
  rate_limit_warning: ({ resource_type, limit }, { yellow }) =>
    say`${yellow("!")} near the limit of ${limit} ${resource_type}`,
  tool_call_started: ({ tool_name, arguments: given }, { cyan, dim }) =>
    say`${cyan("→")} ${tool_name}${given === undefined ? "" : dim(` ${shortened(JSON.stringify(given))}`)}`,
  tool_call_completed: ({ tool_name, status, duration_ms, exit_code }, { green, red, dim }) => {
    const mark = status === "succeeded" && (exit_code ?? 0) === 0 ? green("✓") : red("✗");
    const code = exit_code === null || exit_code === 0 ? "" : `, exit code ${exit_code}`;
    return say`${mark} ${tool_name} ${dim(`${status}${code}, ${duration(duration_ms)}`)}`;
  },
  tool_call_waiting: ({ tool_name, approval_id }, { yellow }) =>
    say`${yellow("⏸")} ${tool_name} waits for a person: svc approvals approve ${approval_id}`,
  tool_call_approved: ({ tool_name }, { green }) => say`${green("▶")} ${tool_name} was approved`,
  tool_call_rejected: ({ tool_name }, { red }) => say`${red("✗")} ${tool_name} was rejected`,
  tool_call_withdrawn: ({ tool_name }, { dim }) => say`${dim(`${tool_name} is asked about no more`)}`,
  policy_violation: ({ tool_name, violation_type }, { red }) =>
    say`${red("✗")} ${tool_name} is not allowed: ${violation_type}`,
  egress_blocked: ({ host, port, reason }, { red }) => say`${red("✗")} no way out to ${host}:${port}: ${reason}`,
  execution_warning: ({ message, code }, { yellow }) => say`${yellow("!")} ${message} (${code})`,
  image_pull_started: ({ image }, { dim }) => say`${dim(`pulling ${image}`)}`,
  image_pull_failed: ({ image, error }, { red }) => say`${red("✗")} ${image} cannot be pulled: ${error}`,
  child_execution_spawned: ({ child_execution_id }, { cyan }) => say`${cyan("→")} execution ${child_execution_id}`,
  output_handler_failed: ({ handler_type, error }, { red }) =>
    say`${red("✗")} output handler ${handler_type}: ${error}`,
  execution_completed: ({ total_iterations }, { green }) =>
    say`${green("✓")} Completed${total_iterations > 1 ? ` in ${total_iterations} attempts` : ""}`,
  execution_failed: ({ reason, error_code }, { red }) => say`${red("✗")} Failed: ${reason} (${error_code})`,
  execution_cancelled: ({ reason }, { yellow }) => say`${yellow("■")} Cancelled${reason === null ? "" : `: ${reason}`}`,
  execution_timed_out: ({ timeout_seconds }, { red }) => say`${red("✗")} Timed out after ${timeout_seconds} s`,
};

/** @returns null for what is left out */
export function eventText(event: EventParts, colours: Colours): Safe | null {
  if (event.name === "console_output") return consoleText(event.body, colours);
  const tell = tellers[event.name as Name];
  // The body is of the event's name: the document says so.
  return tell === undefined ? null : (tell as (body: unknown, colours: Colours) => Safe | null)(event.body, colours);
}

export interface EventParts {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An event is an object of one member, which is its name. */
export function partsOf(data: unknown): EventParts | null {
  if (typeof data !== "object" || data === null) return null;
  const [[name, body] = []] = Object.entries(data);
  return name === undefined || typeof body !== "object" || body === null ? null : { name, body: { ...body } };
}

function consoleText({ content }: EventParts["body"], { dim }: Colours): Safe | null {
  const text = typeof content === "string" ? content.replace(/\n$/, "") : "";
  return text === "" ? null : dim(lines(text, "  │ "));
}

const longest = 120;
const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
