/** What a state comes to that could not be entered or could not go on. */
import { TemplateError } from "../../template/template.ts";
import { StateFault, type StateResult } from "./kind.ts";

/** @param code stable, such as `template_error`; the run's `error_code` when no rule takes the failure */
export function faultResult(code: string, message: string): StateResult {
  return { status: "failed", error: code, message };
}

/** The failed result that an error stands for; null: it is a fault of the service itself. */
export function faultOf(error: unknown): StateResult | null {
  if (error instanceof StateFault) return faultResult(error.code, error.message);
  if (error instanceof TemplateError) return faultResult("template_error", error.message);
  return null;
}
