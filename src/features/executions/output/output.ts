/** The output of an execution on its way to handlers and destinations, and what is made of it for them. */

import type { NetworkSpec } from "../../../../actors/agent/manifest/spec.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { type AcceptedRun, renderForHandler } from "../../../../actors/execution/output/handler-text.ts";
import { outputLog, type Plan } from "../../../../actors/execution/start/plan.ts";
import { TemplateError } from "../../../../actors/template/template.ts";
import { type Address, type Runtime, Terminal } from "../../../runtime/port.ts";

/** One entry for an output handler, one for the end. */
const maxEntries = 2;

/** The latest output that was put by. @throws Terminal when there is none: the execution was erased */
export async function outputOf(runtime: Pick<Runtime, "of">, { tenant, key }: Address): Promise<string> {
  const last = (await runtime.of(execution).at(tenant, key).log(outputLog, 0, maxEntries)).at(-1);
  if (last === undefined) throw new Terminal("execution_not_found", "The execution was removed");
  return last.entry.output;
}

/** What an agent's handler and destinations may reach off the open internet: what the agent itself may. */
export function networkOf({ network }: Pick<Plan, "network">): NetworkSpec | null {
  return network;
}

/** @throws Terminal for a template that cannot be rendered: trying again yields the same */
export function handlerText(template: string, run: AcceptedRun): string {
  try {
    return renderForHandler(template, run);
  } catch (error) {
    if (error instanceof TemplateError) throw new Terminal("template_error", error.message);
    throw error;
  }
}

/** `application/json` for JSON, else plain text. */
export function contentTypeOf(body: string): string {
  try {
    JSON.parse(body);
    return "application/json";
  } catch {
    return "text/plain; charset=utf-8";
  }
}

/** Headers of a request of ours: what the manifest writes wins over defaults, never over what is ours to say. */
export function requestHeaders(
  defaults: Readonly<Record<string, string>>,
  written: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers = new Headers(defaults);
  for (const [name, value] of Object.entries(written)) headers.set(name, value);
  for (const [name, value] of Object.entries(ours)) headers.set(name, value);
  return Object.fromEntries(headers);
}
