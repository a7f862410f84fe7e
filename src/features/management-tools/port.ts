/** Management tools: what one is made of, who calls it, and how its arguments and its failures are told. */

import type { Static, TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Identity } from "../../../actors/identity/identity.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { isStorableJson, unusableText } from "../../../actors/manifest/storable.ts";
import { canonicalName } from "../../../actors/tool/catalog.ts";
import { derivedUuid } from "../../lib/digest.ts";
import {
  type CallEntry,
  type CallPolicy,
  type CallWho,
  outcomeOf,
  ToolFailure,
  type ToolOutcome,
  ToolRefusal,
} from "../tools/port.ts";

/** On whose behalf a tool is called. */
export interface ToolCaller {
  readonly tenant: string;
  /** The way the call came. */
  readonly entry: CallEntry;
  /** Whose permissions count. */
  readonly identity: Identity;
  /** The agent execution that calls; null: a session of its own. */
  readonly executionId: string | null;
  /**
   * Carried by what the call starts or deploys: the context that it is made under, then that one's own ceilings.
   * @throws Problem 422 `too_many_ceilings` when it is read
   */
  readonly ceilings: readonly string[];
  readonly requestId: string | null;
  /** UUID; the same on every attempt of the call. What the call starts has this id. */
  readonly workId: string;
  readonly signal: AbortSignal;
  /** How the call came, for tools that tell of tools. */
  readonly who?: CallWho;
  readonly policy?: CallPolicy;
}

/**
 * The id of what a call starts. Its key may be the caller's own word, which must not name what is there already.
 * @param principal see `CallWho`
 */
export const workIdOf = (tenant: string, principal: string, key: string): string =>
  derivedUuid(JSON.stringify(["tool call", tenant, principal, key]));

export type ToolResult = { readonly [member: string]: Json | undefined };

/**
 * What a second attempt would do: `reads` changes nothing; `repeatable` does what the first one did and no more; `once`
 * would do it again, so it is not attempted.
 */
export type ToolEffect = "reads" | "repeatable" | "once";

/** A tool with its types folded away. */
export interface ManagementTool {
  /** Under `svc.` */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** The permission of its route; null: every caller's. */
  readonly scope: string | null;
  /** Only the platform's own people and machines, with role admin or operator. */
  readonly forOperators: boolean;
  readonly effect: ToolEffect;
  /** JSON Schema of the arguments. */
  readonly arguments: TObject;
  /** @throws Problem, ToolFailure for what becomes a failure */
  call(caller: ToolCaller, given: unknown): Promise<ToolResult>;
}

export interface ToolDeclaration<S extends TObject> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly scope: string | null;
  readonly forOperators?: true;
  /** `once` when absent. */
  readonly effect?: ToolEffect;
  readonly arguments: S;
  call(caller: ToolCaller, given: Static<S>): Promise<object>;
}

export function defineTool<S extends TObject>(declaration: ToolDeclaration<S>): ManagementTool {
  const { name, aliases = [], description, scope, forOperators = false, effect = "once" } = declaration;
  return {
    name,
    aliases,
    description,
    scope,
    forOperators,
    effect,
    arguments: declaration.arguments,
    call: async (caller, given) => {
      const answer = await declaration.call(caller, readArguments(declaration.arguments, given));
      // Answers of routes: JSON throughout.
      return { tool: name, ...(answer as ToolResult) };
    },
  };
}

const maxIssues = 20;

/** Defaults filled in, `null` for absent ones. @throws ToolFailure `invalid_arguments` with `issues` */
function readArguments<S extends TObject>(schema: S, given: unknown): Static<S> {
  const present = isObject(given) ? withoutNulls(schema, given) : given;
  const filled = isObject(present) ? { ...defaultsOf(schema), ...present } : present;
  const issues: Json[] = [];
  for (const [path, value] of Object.entries(isObject(present) ? present : {})) {
    // Operations ask their stores for what they are given: a text that none can hold is nothing they know.
    if (!isStorableJson(value)) issues.push({ path, message: unusableText, code: "invalid" });
  }
  if (issues.length === 0 && Value.Check(schema, filled)) return filled;
  for (const { path, message } of Value.Errors(schema, filled)) {
    if (issues.length < maxIssues) issues.push({ path: path.slice(1).replaceAll("/", "."), message, code: "invalid" });
  }
  throw new ToolFailure("invalid_arguments", "The arguments do not fit the tool", { issues });
}

/** Of members that are absent: what is there of another kind is not mended by a default. */
const defaultsOf = ({ properties }: TObject): object =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, member]) => member.default !== undefined)
      .map(([name, member]) => [name, structuredClone(member.default)]),
  );

function withoutNulls(schema: TObject, given: object): object {
  const required = new Set(schema.required ?? []);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== null || required.has(name)));
}

function isOperator({ kind, role }: Identity): boolean {
  const isOfPlatform = kind === "operator" || kind === "service_account";
  return isOfPlatform && (role === "admin" || role === "operator");
}

/** Whether scopes and role let an identity call a tool. */
export const isPermitted = ({ scope, forOperators }: ManagementTool, identity: Identity): boolean =>
  (scope === null || identity.scopes.has(scope)) && (!forOperators || isOperator(identity));

/** @throws ToolFailure `insufficient_scope`, `operator_required` */
function requirePermission(tool: ManagementTool, { identity }: ToolCaller): void {
  if (isPermitted(tool, identity)) return;
  const { scope } = tool;
  if (scope === null || identity.scopes.has(scope))
    throw new ToolFailure("operator_required", "This needs the role admin or operator");
  throw new ToolFailure("insufficient_scope", `This needs the scope ${scope}`, { required: scope });
}

/** What is said of the tenant must be true; of users, roles and scopes nothing said counts. @throws ToolFailure `tenant_mismatch` */
function requireTenant({ tenant }: ToolCaller, given: unknown): void {
  const named = isObject(given) ? given.tenant_id : undefined;
  if (named === undefined || named === null || named === tenant) return;
  throw new ToolFailure("tenant_mismatch", "tenant_id may only name the tenant of the call");
}

/** What a thrown value means to the caller; bugs and outages are thrown on. */
export function failureOf(error: unknown): ToolOutcome {
  if (error instanceof ToolFailure || error instanceof ToolRefusal) return outcomeOf(error);
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const details = error.extras as { readonly [member: string]: Json };
  const hasDetails = Object.keys(details).length > 0;
  return { status: "failed", code: error.code, message: error.message, ...(hasDetails ? { details } : {}) };
}

/** The answer where a call acts for no identity. */
export function withoutStarter(tool: string): ToolOutcome {
  return {
    status: "refused",
    error_code: 2000,
    code: "tool_not_allowed",
    violation_type: "tool_not_allowed",
    message: `${tool} acts for the identity that started the caller; this one has none, or not any more`,
    attempted: tool,
  };
}

/** Several tools, found by their names. */
export interface ManagementTools {
  readonly tools: readonly ManagementTool[];
  /** By any of its names, under either prefix; undefined for what is none of these tools. */
  find(name: string): ManagementTool | undefined;
  /** Never rejects for what the caller did wrong; rejects when aborted, and for what may pass, as an outage. */
  call(name: string, caller: ToolCaller, given: unknown): Promise<ToolOutcome>;
}

export function collected(tools: readonly ManagementTool[]): ManagementTools {
  const byName = new Map(tools.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool] as const)));
  const find = (name: string) => byName.get(canonicalName(name));
  return {
    tools,
    find,
    async call(name, caller, given) {
      const tool = find(name);
      if (tool === undefined) return { status: "failed", code: "unknown_tool", message: `There is no tool ${name}` };
      try {
        requireTenant(caller, given);
        requirePermission(tool, caller);
        const result = await tool.call(caller, given);
        // Answers of routes: JSON throughout.
        return { status: "succeeded", result: result as { readonly [member: string]: Json } };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}
