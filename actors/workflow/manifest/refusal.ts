/** The refusal that a manifest's issues amount to. */
import { type Issue, invalid, type Problem } from "../../kernel/problem.ts";

/** Codes that are given to the whole answer where nothing else is wrong. */
const own = ["unsafe_template_position", "unsupported_output_handler"] as const;

export function refusal(issues: readonly Issue[]): Problem {
  const code = own.find((one) => issues.length > 0 && issues.every((issue) => issue.code === one));
  return invalid(code ?? "invalid_manifest", "The manifest is invalid", issues);
}
