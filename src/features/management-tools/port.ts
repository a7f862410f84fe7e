/** Management tools: what one is made of, who calls it, and how its arguments and its failures are told. */

import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Identity } from "../../../actors/identity/identity.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { ToolFailure, type ToolOutcome } from "../tools/port.ts";

/** On whose behalf a tool is called. */
export interface ToolCaller {
  readonly tenant: string;
  /** Whose permissions count. */
  readonly identity: Identity;
  /** The agent execution that calls; null: a session of its own. */
  readonly executionId: string | null;
  /** Carried by what the call starts or deploys: the context that it is made under, then that one's own ceilings. */
  readonly ceilings: readonly string[];
  readonly requestId: string | null;
  /** UUID; the same on every attempt of the call. What the call starts has this id. */
  readonly workId: string;
  readonly signal: AbortSignal;
}

export type ToolResult = { readonly [member: string]: Json | undefined };

/** A tool with its types folded away. */
export interface ManagementTool {
  /** Under `svc.` */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** The permission of its route. */
  readonly scope: string;
  /** JSON Schema of the arguments. */
  readonly arguments: TObject;
  /** @throws Problem, ToolFailure for what becomes a failure */
  call(caller: ToolCaller, given: unknown): Promise<ToolResult>;
}

export interface ToolDeclaration<S extends TObject> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly scope: string;
  readonly arguments: S;
  call(caller: ToolCaller, given: Static<S>): Promise<object>;
}

export function defineTool<S extends TObject>(declaration: ToolDeclaration<S>): ManagementTool {
  return {
    ...declaration,
    aliases: declaration.aliases ?? [],
    call: async (caller, given) => {
      const answer = await declaration.call(caller, readArguments(declaration.arguments, given));
      // Answers of routes: JSON throughout.
      return { tool: declaration.name, ...(answer as ToolResult) };
    },
  };
}

const maxIssues = 20;

/** Defaults filled in, `null` for absent ones. @throws ToolFailure `invalid_arguments` with `issues` */
function readArguments<S extends TObject>(schema: S, given: unknown): Static<S> {
  const present = isObject(given) ? withoutNulls(schema, given) : given;
  const filled = Value.Default(schema, present);
  if (Value.Check(schema, filled)) return filled;
  const issues: Json[] = [];
  for (const { path, message } of Value.Errors(schema, filled)) {
    if (issues.length < maxIssues) issues.push({ path: path.slice(1).replaceAll("/", "."), message, code: "invalid" });
  }
  throw new ToolFailure("invalid_arguments", "The arguments do not fit the tool", { issues });
}

function withoutNulls(schema: TObject, given: object): object {
  const required = new Set(schema.required ?? []);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== null || required.has(name)));
}

/** @throws ToolFailure `insufficient_scope` */
export function requireScope({ identity }: ToolCaller, scope: string): void {
  if (identity.scopes.has(scope)) return;
  throw new ToolFailure("insufficient_scope", `This needs the scope ${scope}`, { required: scope });
}

/** What a thrown value means to the caller; bugs and outages are thrown on. */
export function failureOf(error: unknown): ToolOutcome {
  if (error instanceof ToolFailure) {
    const { code, message, details } = error;
    return { status: "failed", code, message, ...(details === undefined ? {} : { details }) };
  }
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const details = error.extras as { readonly [member: string]: Json };
  const hasDetails = Object.keys(details).length > 0;
  return { status: "failed", code: error.code, message: error.message, ...(hasDetails ? { details } : {}) };
}
