/** Security contexts in words, and as text to edit. */
import type { Schemas } from "../../../programs/client/client.ts";

export type Context = Schemas["SecurityContext"];
export type Capability = Context["capabilities"][number];
export type Approval = NonNullable<Capability["approval"]>;
export type Verdict = Schemas["SecurityContextVerdict"];

export const contextLink = (name: string): string => `/security-contexts/${name}`;
export const isSystem = ({ name }: Pick<Context, "name">): boolean => name.startsWith("svc-");

/** One sentence for each constraint of a capability; without any it opens all that its pattern covers. */
export function constraintsOf(capability: Capability): readonly (readonly [name: string, told: string])[] {
  const { path_allowlist: paths, domain_allowlist: domains, rate_limit: rate } = capability;
  const { max_response_size: size, max_concurrent: atOnce, max_timeout_secs: timeout } = capability;
  const commands = commandsOf(capability);
  return [
    ...(paths == null ? [] : [["Paths", paths.length === 0 ? "none" : paths.join(", ")] as const]),
    ...(commands === null ? [] : [["Commands", commands] as const]),
    ...(domains == null ? [] : [["Domains", domains.length === 0 ? "none" : domains.join(", ")] as const]),
    ...(rate == null
      ? []
      : [["Rate", `${rate.calls.toLocaleString("en")} calls in ${secondsText(rate.per_seconds)}`] as const]),
    ...(atOnce == null ? [] : [["At once", `${atOnce} ${atOnce === 1 ? "call" : "calls"}`] as const]),
    ...(timeout == null ? [] : [["A call takes", `${secondsText(timeout)} at most`] as const]),
    ...(size == null ? [] : [["Answers", `${size.toLocaleString("en")} bytes at most`] as const]),
  ];
}

/** @returns null: any command */
function commandsOf({ command_allowlist: commands, subcommand_allowlist: subcommands }: Capability): string | null {
  if (commands == null && subcommands == null) return null;
  if (subcommands == null) return commands == null || commands.length === 0 ? "none" : commands.join(", ");
  if (Array.isArray(subcommands)) {
    const first = subcommands.length === 0 ? "no subcommand" : subcommands.map(wordOf).join(", ");
    return `${commands == null ? "any" : commands.join(", ")}, with ${first}`;
  }
  const named = Object.entries(subcommands).map(([command, allowed]) =>
    allowed.length === 0 ? `${command} (anything)` : `${command} (${allowed.map(wordOf).join(", ")})`,
  );
  const free = (commands ?? [])
    .filter((command) => !(command in subcommands))
    .map((command) => `${command} (anything)`);
  return [...named, ...free].join(", ") || "none";
}

const wordOf = (word: string): string => (word === "" ? "no argument" : word);

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

/** `3600` → `1 hour` */
function secondsText(seconds: number): string {
  for (const [length, unit] of units)
    if (seconds % length === 0) return `${seconds / length} ${unit}${seconds === length ? "" : "s"}`;
  return `${seconds} s`;
}

/** What a person is asked about, and how. */
export function approvalWords(approval: Approval): readonly string[] {
  const { when, approvers, quorum, timeout_seconds: timeout, on_timeout, editable, remember } = approval;
  return [
    when === null ? "every call" : `calls where ${when}`,
    approvers.length === 0 ? "decided by all who may decide approvals" : `decided by ${approvers.join(" or ")}`,
    ...(approval.forbid_initiator ? ["not by who started it"] : []),
    ...(quorum > 1 ? [`${quorum} people have to agree`] : []),
    `within ${secondsText(timeout)}, else ${on_timeout === "fail" ? "the execution fails" : "it is rejected"}`,
    ...(editable ? ["the arguments may be changed"] : []),
    ...(remember === null
      ? []
      : [remember === "tool" ? "a yes may hold for all calls of the tool" : "a yes may hold for equal arguments"]),
    ...(approval.elicit ? ["an MCP client may ask its own person"] : []),
  ];
}

const constraintWords: Readonly<Record<string, string>> = {
  effective_tools: "the manifest of the agent, or the session, does not offer it",
  tool_pattern: "no rule opens it",
  deny_list: "the deny list",
  path_allowlist: "the paths of the rule",
  command_allowlist: "the commands of the rule",
  subcommand_allowlist: "the subcommands of the rule",
  shell_syntax: "a line that needs a shell, which the rule does not open",
  domain_allowlist: "the domains of the rule",
  rate_limit: "its rate",
  max_concurrent: "as many calls as may run at once run already",
  context_deleted: "the context was deleted",
};

/** Why a call is refused, as verdicts and refusals name it. */
export const constraintText = (constraint: string): string =>
  constraintWords[constraint] ?? constraint.replaceAll("_", " ");

/** A context without what the service adds, as it is written. */
export function writtenOf({ description, capabilities, deny_list, usable_by }: Context): Record<string, unknown> {
  return {
    ...(description === null ? {} : { description }),
    capabilities: capabilities.map(withoutNulls),
    deny_list,
    ...(usable_by === null ? {} : { usable_by }),
  };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member)]),
  );
}

export const template = `# What calls may be made, in the order in which the rules are tried.
description: What builds need
capabilities:
  - tool_pattern: fs.*
    path_allowlist: [/workspace]
  - tool_pattern: cmd.run
    subcommand_allowlist:
      git: [status, diff]
      make: [] # anything
    rate_limit: { calls: 20, per_seconds: 60 }
  # A person is asked before these run.
  # - tool_pattern: svc.workflow.*
  #   approval: { approvers: [role:owner], editable: true }
# Never called, even where a rule above opens it.
deny_list: [fs.delete]
# Who may name it; all of the tenant without this.
# usable_by: [role:owner]
`;
