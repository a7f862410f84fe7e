/** From the arguments of `cmd.run` to the argv that the bootstrap runs. Never a shell unless the line asks for one. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Issue } from "../../kernel/problem.ts";
import { Nullable } from "../../kernel/schema.ts";
import { shapeIssues } from "../../kernel/shape-issues.ts";
import type { ClearedCall } from "../../policy/security/clearance.ts";
import { argvOf } from "../../tool/argv.ts";
import { CmdRunArguments } from "../../tool/catalog.ts";

export const DispatchCommand = Type.Object({
  command: Type.String(),
  args: Type.Array(Type.String()),
  cwd: Type.String(),
  env_additions: Type.Record(Type.String(), Type.String()),
  timeout_secs: Type.Integer(),
  max_output_bytes: Type.Integer(),
  /** Names of the additions that were not let through. */
  dropped_env: Type.Array(Type.String()),
  /** False when the timeout is only the default. */
  timeout_asked: Type.Boolean(),
  /** For the model, when something was not done as asked. */
  notice: Nullable(Type.String()),
  /** Whose time ends the command before its own does. */
  cut_by: Type.Optional(Type.Union([Type.Literal("execution"), Type.Literal("iteration")])),
});
export type DispatchCommand = Static<typeof DispatchCommand>;

/** Reads the arguments as the model wrote them; nulls count as absent. */
export function readCommand(
  given: Readonly<Record<string, unknown>>,
): DispatchCommand | { readonly issues: readonly Issue[] } {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  // `Default` writes into what it is given.
  const value = Value.Default(CmdRunArguments, structuredClone(present));
  if (!Value.Check(CmdRunArguments, value)) {
    return { issues: shapeIssues(Value.Errors(CmdRunArguments, value), 20) };
  }
  if (JSON.stringify([value.command, value.args, value.cwd]).includes("\\u0000")) {
    return { issues: [{ path: "command", message: "contains a NUL character", code: "invalid" }] };
  }
  const argv = argvOf(value.command, value.args);
  if (argv === null) return { issues: [{ path: "command", message: "names no program", code: "invalid" }] };
  const { kept, dropped } = filterEnvironment(value.env_additions);
  return {
    ...argv,
    cwd: value.cwd.startsWith("/") ? value.cwd : `/workspace/${value.cwd}`,
    env_additions: kept,
    timeout_secs: value.timeout_secs,
    timeout_asked: present.timeout_secs !== undefined,
    max_output_bytes: value.max_output_bytes,
    dropped_env: dropped,
    notice: null,
  };
}

const droppedPrefixes = [
  "AWS_",
  "AZURE_",
  "GCP_",
  "GOOGLE_",
  "GITHUB_TOKEN",
  "CI_",
  "SVC_",
  "AEGIS_",
  "LD_",
  "DYLD_",
  "GIT_",
];
/** Credentials, and what makes a program run or read something else than its arguments say. */
const droppedNames = new Set([
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PATH", "HOME"],
  ...["ENV", "BASH_ENV", "NODE_OPTIONS", "PYTHONPATH", "PERL5OPT"],
]);

function filterEnvironment(given: Readonly<Record<string, string>>): {
  kept: Record<string, string>;
  dropped: string[];
} {
  const isDropped = (name: string) =>
    !/^[^=\0]+$/.test(name) ||
    (given[name] ?? "").includes("\0") ||
    droppedNames.has(name) ||
    droppedPrefixes.some((prefix) => name.startsWith(prefix));
  const kept = Object.entries(given).filter(([name]) => !isDropped(name));
  return { kept: Object.fromEntries(kept), dropped: Object.keys(given).filter(isDropped) };
}

/**
 * Lowers the timeout to the time that is left, and says so to a model that asked for more.
 * @param leftMs milliseconds until the time of `of` is up
 */
export function within(command: DispatchCommand, leftMs: number, of: "execution" | "iteration"): DispatchCommand {
  const left = Math.max(1, Math.floor(leftMs / 1000));
  if (command.timeout_secs <= left) return command;
  const notice = command.timeout_asked ? `timeout_secs was lowered to ${left}: no more time is left` : null;
  return { ...command, timeout_secs: left, notice, cut_by: of };
}

/** A command within the time and the size that policy leaves it. */
export function allowedBy(
  clearance: Pick<ClearedCall, "max_timeout_secs" | "max_response_size"> | undefined,
  wanted: DispatchCommand,
): DispatchCommand {
  if (clearance === undefined) return wanted;
  const { max_timeout_secs, max_response_size } = clearance;
  const isLowered = wanted.timeout_asked && wanted.timeout_secs > max_timeout_secs;
  return {
    ...wanted,
    timeout_secs: Math.min(wanted.timeout_secs, max_timeout_secs),
    max_output_bytes: Math.min(wanted.max_output_bytes, max_response_size),
    ...(isLowered ? { notice: `timeout_secs was lowered to ${max_timeout_secs}: policy allows no more` } : {}),
  };
}
