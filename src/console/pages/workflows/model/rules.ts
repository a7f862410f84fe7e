/** Rules that lead from one state to the next, in few words and whole. */

export interface Rule {
  readonly condition: string;
  readonly target: string;
  /** For an edge of a graph; empty: always. */
  readonly label: string;
  /** For the hover: everything that the rule says. */
  readonly whole: string;
}

/** Letters of a label. */
const longest = 24;

const words: Readonly<Record<string, string>> = {
  always: "",
  on_success: "success",
  on_failure: "failure",
  on_timeout: "timeout",
  exit_code_zero: "exit 0",
  exit_code_non_zero: "exit ≠ 0",
  all_approved: "all approved",
  any_rejected: "any rejected",
  input_equals_yes: "yes",
  input_equals_no: "no",
};

const member = (rule: Readonly<Record<string, unknown>>, name: string): string => {
  const value = rule[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
};

/** Rules whose label has a value. */
const valued: Readonly<Record<string, (rule: Readonly<Record<string, unknown>>) => string>> = {
  exit_code: (rule) => `exit ${member(rule, "value")}`,
  score_above: (rule) => `score > ${member(rule, "threshold")}`,
  score_below: (rule) => `score < ${member(rule, "threshold")}`,
  score_between: (rule) => `score ${member(rule, "min")}–${member(rule, "max")}`,
  confidence_above: (rule) => `confidence > ${member(rule, "threshold")}`,
  score_and_confidence_above: (rule) => `score, confidence > ${member(rule, "threshold")}`,
  consensus: (rule) => `consensus ≥ ${member(rule, "threshold")}`,
  input_equals: (rule) => `“${member(rule, "value")}”`,
  custom: (rule) => member(rule, "expression"),
};

/** @returns null for what leads to no state */
export function readRule(written: Readonly<Record<string, unknown>> | null): Rule | null {
  if (written === null || typeof written.target !== "string") return null;
  const condition = typeof written.condition === "string" ? written.condition : "always";
  const said = valued[condition]?.(written) ?? wordsOfCondition(condition);
  const others = Object.entries(written).filter(([name]) => name !== "target" && name !== "condition");
  const details = others.map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return {
    condition,
    target: written.target,
    label: cut(said),
    whole: [condition, ...details, `→ ${written.target}`].join("\n"),
  };
}

/** A condition without its values, as logs and graphs name it. */
export const wordsOfCondition = (condition: string): string => words[condition] ?? condition.replaceAll("_", " ");

export const cut = (text: string, most = longest): string =>
  text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
