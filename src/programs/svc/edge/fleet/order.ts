/** What a run is asked to do: its target, its tool and the tool's arguments, from the words of the command line. */
import { isSelectorTerm, readTargetText, type WrittenTarget } from "../../../../../actors/edge/target-text.ts";
import { usageFailure } from "../command/exit.ts";
import { understood } from "../command/understood.ts";

export interface Order {
  readonly target: WrittenTarget;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface OrderWords {
  readonly positions: readonly string[];
  readonly rest: readonly string[] | null;
  /** `name=value` each. */
  readonly arg: readonly string[];
  readonly args: string | null;
}

/**
 * `<target> <tool>`, or `<target> -- <command…>`.
 * @throws Failure `usage`
 */
export function orderOf({ positions, rest, arg, args }: OrderWords): Order {
  const { target, left } = targetOf(positions);
  const given = argumentsOf(arg, args);
  if (rest === null) {
    const [tool, ...more] = left;
    if (tool === undefined || more.length > 0)
      throw usageFailure("after the target comes one tool, or -- and a command");
    return { target, tool, args: given };
  }
  const [command, ...words] = rest;
  if (command === undefined) throw usageFailure("after -- comes a command");
  if (left.length > 0) throw usageFailure(`${left.join(" ")}: with -- there is no tool; it is cmd.run`);
  if ("command" in given || "args" in given) throw usageFailure("the command is said after --, not by --arg as well");
  return { target, tool: "cmd.run", args: { ...given, command, args: words } };
}

/** Terms of a selector in a row are one target. @throws Failure `usage` */
export function targetOf(positions: readonly string[]): {
  readonly target: WrittenTarget;
  readonly left: readonly string[];
} {
  const [first] = positions;
  if (first === undefined) throw usageFailure("which hosts? @id, group:name, all, or terms as os=linux tags=web");
  const more = isSelectorTerm(first) ? positions.slice(1).findIndex((word) => !isSelectorTerm(word)) : 0;
  const count = more === -1 ? positions.length : more + 1;
  const target = understood(() => readTargetText(positions.slice(0, count).join(" ")));
  return { target, left: positions.slice(count) };
}

/** `--args` first, then each `--arg`. A value that is JSON is that; any other one is a text. @throws Failure `usage` */
function argumentsOf(pairs: readonly string[], json: string | null): Readonly<Record<string, unknown>> {
  const all: [string, unknown][] = json === null ? [] : Object.entries(objectOf(json));
  for (const pair of pairs) {
    const split = pair.indexOf("=");
    if (split <= 0) throw usageFailure(`--arg must be name=value, not ${pair}`);
    all.push([pair.slice(0, split), argumentOf(pair.slice(split + 1))]);
  }
  return Object.fromEntries(all);
}

function objectOf(json: string): object {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw usageFailure(`--args is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usageFailure("--args must be a JSON object");
  return value;
}

function argumentOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // A number that JSON cannot hold exactly would become another one: it is a text.
    return typeof value === "number" && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}
