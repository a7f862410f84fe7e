/** What is said of how a model's reply came about, on the record, in the stream and as metrics. */
import type { Warning } from "../../../../../actors/execution/start/plan.ts";
import type { ModelReply } from "../../../../adapters/models/port.ts";

/** Every code, for metrics: its values are the values of a label. */
export type ModelWarningCode =
  | "llm_fallback_used"
  | "llm_answer_truncated"
  | "llm_answer_filtered"
  | "llm_stream_ignored";

/** In the order in which they came about; none for a reply that is as it was asked for. */
export function modelWarnings(
  reply: Pick<ModelReply, "provider" | "model" | "insteadOf" | "truncated" | "finishReason" | "streamed" | "usage">,
): readonly (Warning & { readonly code: ModelWarningCode })[] {
  const { provider, model, insteadOf, truncated, finishReason, streamed, usage } = reply;
  const answerer = `${model} at ${provider}`;
  const warnings: (Warning & { readonly code: ModelWarningCode })[] = [];
  if (insteadOf !== null) {
    const { errorClass, message } = insteadOf;
    const failed = `${insteadOf.model} at ${insteadOf.provider}`;
    warnings.push({
      code: "llm_fallback_used",
      message: `${answerer} answered, since ${failed} did not (${errorClass}: ${message})`,
    });
  }
  if (!streamed) {
    const message = `${answerer} answered in one piece although a stream was asked for`;
    warnings.push({ code: "llm_stream_ignored", message });
  }
  if (truncated) {
    const message = `An answer of ${answerer} was cut at its largest length, after ${usage.output_tokens} tokens`;
    warnings.push({ code: "llm_answer_truncated", message });
  }
  if (finishReason === "content_filter") {
    const message = `An answer of ${answerer} was ended by the vendor's content filter`;
    warnings.push({ code: "llm_answer_filtered", message });
  }
  return warnings;
}
