/** The static constraints of one capability: whether it lets a call pass, by the call's paths, command and URL. */
import type { CallFacts } from "./call-facts.ts";
import { allowedCommands, allowedSubcommands, commandAllowed, subcommandAllowed } from "./commands.ts";
import { domainAllowed } from "./domains.ts";
import { pathAllowed } from "./paths.ts";
import { type Refused, type RefusedBy, refuse } from "./refusals.ts";
import type { Capability } from "./spec.ts";

/** Entries that a refusal names. */
const maxShown = 50;
const shown = (entries: readonly string[] | null) => (entries ?? []).slice(0, maxShown);
/** Of an argument that a refusal repeats. */
const cut = (text: string) => (text.length <= 1024 ? text : `${text.slice(0, 1024)}…`);

/** The first constraint that the call does not meet; null: the capability lets it pass. */
export function staticRefusal(call: CallFacts, capability: Capability, by: RefusedBy): Refused | null {
  return (
    pathRefusal(call, capability, by) ?? commandRefusal(call, capability, by) ?? domainRefusal(call, capability, by)
  );
}

function pathRefusal({ tool, paths, climbing }: CallFacts, { path_allowlist }: Capability, by: RefusedBy) {
  const path = path_allowlist ? paths.find((one) => !pathAllowed(path_allowlist, one)) : undefined;
  if (path === undefined) return null;
  const violation = climbing.includes(path) ? "path_traversal_attempt" : "path_outside_boundary";
  return refuse("path_not_allowed", violation, `${tool} may not touch ${cut(path)}`, tool, by, {
    constraint: "path_allowlist",
    attempted: cut(path),
    allowed: shown(path_allowlist ?? []),
  });
}

function commandRefusal({ tool, command }: CallFacts, capability: Capability, by: RefusedBy): Refused | null {
  if (command === null) return null;
  const { program, args, shell } = command;
  if (!commandAllowed(capability, command)) {
    const message = shell
      ? `${tool} may not run a shell, which this line needs`
      : `${tool} may not run ${cut(program)}`;
    return refuse("command_not_allowed", "command_not_allowed", message, tool, by, {
      constraint: shell ? "shell_syntax" : "command_allowlist",
      attempted: cut(program),
      allowed: shown(allowedCommands(capability)),
    });
  }
  if (subcommandAllowed(capability, command)) return null;
  const [first] = args;
  const what = first === undefined ? `${cut(program)} without arguments` : `${cut(program)} ${cut(first)}`;
  return refuse("subcommand_not_allowed", "subcommand_not_allowed", `${tool} may not run ${what}`, tool, by, {
    constraint: shell ? "shell_syntax" : "subcommand_allowlist",
    attempted: cut(first ?? ""),
    allowed: shown(allowedSubcommands(capability, program)),
  });
}

function domainRefusal({ tool, url }: CallFacts, { domain_allowlist }: Capability, by: RefusedBy): Refused | null {
  if (url === null || !domain_allowlist || domainAllowed(domain_allowlist, url)) return null;
  return domainNotAllowed(tool, url, domain_allowlist, by);
}

/** A URL whose host an allowlist does not name. */
const domainNotAllowed = (tool: string, url: string, allowed: readonly string[], by: RefusedBy): Refused =>
  refuse("domain_not_allowed", "domain_not_allowed", `${tool} may not fetch ${cut(url)}`, tool, by, {
    constraint: "domain_allowlist",
    attempted: cut(url),
    allowed: shown(allowed),
  });
