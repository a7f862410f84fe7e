/** What a tenant's executions have come to know, by the type of the errors that they met. */

/** The patterns of one error type, added up. */
export interface PatternSum {
  readonly error_type: string;
  readonly patterns: number;
  /** Those with a success. */
  readonly solved: number;
  readonly frequency: number;
  readonly successes: number;
  /** Executions that met one of them. */
  readonly total: number;
}

/** From so many solved patterns on a skill is advanced. */
const advancedFrom = 5;

const categories: Readonly<Record<string, string>> = {
  validation_rejected: "validation",
  nonzero_exit: "program",
  startup_script_failed: "program",
  llm_error: "model",
  iteration_timeout: "resources",
  out_of_memory: "resources",
  disk_exceeded: "resources",
  secret_not_found: "access",
  secret_forbidden: "access",
  credential_not_found: "access",
  credential_not_granted: "access",
  credential_forbidden: "access",
};

/** A skill but for its id. */
export function skillOf({ error_type, patterns, solved, frequency, successes, total }: PatternSum) {
  const category = categories[error_type] ?? "runtime";
  const words = error_type.replaceAll("_", " ");
  return {
    name: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
    description: `${patterns} ${patterns === 1 ? "pattern" : "patterns"} of ${words}, ${solved} of them solved`,
    category,
    level: solved >= advancedFrom ? ("advanced" as const) : ("basic" as const),
    capability_tags: [...new Set([category, error_type])],
    pattern_count: patterns,
    usage_count: frequency,
    success_rate: rateOf(successes, total),
  };
}

/** From 0 to 1; 0 where there is nothing to go by. */
export const rateOf = (successes: number, total: number): number => (total === 0 ? 0 : Math.min(1, successes / total));
