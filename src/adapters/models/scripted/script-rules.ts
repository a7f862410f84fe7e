/** The replies a script is made of, and the rules that choose among them. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { compileTemplate } from "./script-template.ts";

const strict = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });

const errorClasses = [
  "authentication",
  "model_not_found",
  "invalid_input",
  "rate_limit",
  "service_unavailable",
  "network",
  "provider",
  "timeout",
] as const;

const replyFields = {
  /** A template over the named variables. */
  content: Type.Optional(Type.String()),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 256 }),
          arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        },
        strict,
      ),
      { maxItems: 128 },
    ),
  ),
  /** Only the first `attempts` tries fail; all of them without it. */
  error: Type.Optional(
    Type.Object(
      {
        class: Type.Union(errorClasses.map((errorClass) => Type.Literal(errorClass))),
        attempts: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("all")])),
      },
      strict,
    ),
  ),
  delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  usage: Type.Optional(
    Type.Object({ input_tokens: Type.Optional(count), output_tokens: Type.Optional(count) }, strict),
  ),
};

export const ScriptReply = Type.Object(replyFields, strict);
export type ScriptReply = Static<typeof ScriptReply>;

const When = Type.Object(
  {
    alias: Type.Optional(Type.String()),
    agent: Type.Optional(Type.String()),
    iteration: Type.Optional(Type.Integer()),
    round: Type.Optional(Type.Integer()),
    last_role: Type.Optional(Type.String()),
    prompt_contains: Type.Optional(Type.String()),
    prompt_matches: Type.Optional(Type.String({ maxLength: 1000 })),
    last_contains: Type.Optional(Type.String()),
  },
  strict,
);

/** The reply stands beside `when`, or under `reply`. */
const RuleSection = Type.Union([
  Type.Object({ when: Type.Optional(When), reply: ScriptReply }, strict),
  Type.Object({ when: Type.Optional(When), ...replyFields }, strict),
]);

export interface Rule {
  readonly when: Omit<Static<typeof When>, "prompt_matches">;
  readonly promptMatches: RegExp | null;
  readonly reply: ScriptReply;
}

/** What rules look at. */
export interface Situation {
  readonly alias: string;
  readonly agent: string;
  readonly iteration: number;
  /** Number of assistant messages so far. */
  readonly round: number;
  /** The first user message. */
  readonly prompt: string;
  /** Content of the last message. */
  readonly last: string;
  readonly lastRole: string;
}

/** As much of a prompt as a pattern is run over. */
const matchedCharacters = 64 * 1024;

type Report = (path: string, message: string) => void;

export function readRules(rules: readonly unknown[], path: string, report: Report): readonly Rule[] {
  return rules.flatMap((rule, index) => {
    const at = `${path}.${index}`;
    if (!Value.Check(RuleSection, rule)) {
      report(at, "is no rule: `when` with its conditions, and a reply");
      return [];
    }
    const { when = {}, ...rest } = rule;
    const reply: ScriptReply = "reply" in rest ? rest.reply : rest;
    const { prompt_matches: pattern, ...conditions } = when;
    try {
      compileTemplate(reply.content ?? "");
      return [{ when: conditions, promptMatches: pattern === undefined ? null : new RegExp(pattern, "u"), reply }];
    } catch (error) {
      report(at, error instanceof Error ? error.message : "cannot be read");
      return [];
    }
  });
}

/** A rules file: YAML or JSON, a list of rules or an object with such a list under `rules`. */
export function rulesOfText(text: string, path: string, report: Report): readonly Rule[] {
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 100 });
  } catch {
    report(path, "is neither YAML nor JSON");
    return [];
  }
  const rules = typeof document === "object" && document !== null && "rules" in document ? document.rules : document;
  if (Array.isArray(rules)) return readRules(rules, path, report);
  report(path, "holds no list of rules");
  return [];
}

/** The first rule that holds entirely, with the groups of its pattern. */
export function firstRule(
  rules: readonly Rule[],
  now: Situation,
): { reply: ScriptReply; match: RegExpExecArray | null } | null {
  for (const { when, promptMatches, reply } of rules) {
    const holds =
      (when.alias === undefined || when.alias === now.alias) &&
      (when.agent === undefined || when.agent === now.agent) &&
      (when.iteration === undefined || when.iteration === now.iteration) &&
      (when.round === undefined || when.round === now.round) &&
      (when.last_role === undefined || when.last_role === now.lastRole) &&
      (when.prompt_contains === undefined || now.prompt.includes(when.prompt_contains)) &&
      (when.last_contains === undefined || now.last.includes(when.last_contains));
    if (!holds) continue;
    if (!promptMatches) return { reply, match: null };
    const match = promptMatches.exec(now.prompt.slice(0, matchedCharacters));
    if (match) return { reply, match };
  }
  return null;
}
