/** Manifests of workflows, read, judged and masked without holding up the node. */
import { fileURLToPath } from "node:url";
import { maskedWorkflow } from "../../../../../actors/agent/masking.ts";
import { renderYaml } from "../../../../../actors/manifest/document.ts";
import type { JudgedWorkflow, ParsedWorkflow, WorkflowOffer } from "../../../../../actors/workflow/manifest/judged.ts";
import { judgeWorkflow } from "../../../../../actors/workflow/manifest/manifest.ts";
import { parseWorkflow } from "../../../../../actors/workflow/manifest/parse.ts";
import { isPlain, isSmall, judgeGuarded, type Waiter } from "../../../../lib/guarded/judging.ts";

const program = fileURLToPath(new URL("./judging-program.ts", import.meta.url));

export type JudgingJob =
  | { readonly do: "parse"; readonly text: string }
  | { readonly do: "judge"; readonly document: ParsedWorkflow["document"]; readonly offer: WorkflowOffer }
  | { readonly do: "mask"; readonly text: string };

/** @throws Problem as `parseWorkflow` */
export async function readWorkflow(waiter: Waiter, text: string): Promise<ParsedWorkflow> {
  return isSmall(text)
    ? parseWorkflow(text)
    : judgeGuarded(program, { do: "parse", text } satisfies JudgingJob, waiter);
}

/** @throws SlotsFull; a document that takes too long is a Problem 422 */
export async function judgeDocument(
  waiter: Waiter,
  document: ParsedWorkflow["document"],
  offer: WorkflowOffer,
): Promise<JudgedWorkflow> {
  if (isPlain(JSON.stringify(document))) return judgeWorkflow(document, offer);
  return judgeGuarded(program, { do: "judge", document, offer } satisfies JudgingJob, waiter);
}

/** The manifest of a workflow without its secrets; written anew only where there is something to hide. */
export async function withoutSecrets(tenant: string, manifest: string): Promise<string> {
  if (!/secret|headers|env|\\|[&*!]/.test(manifest)) return manifest;
  return isSmall(manifest)
    ? mask(manifest)
    : judgeGuarded(program, { do: "mask", text: manifest } satisfies JudgingJob, { tenant });
}

export function mask(manifest: string): string {
  const { document } = parseWorkflow(manifest);
  const shown = maskedWorkflow(document);
  return JSON.stringify(shown) === JSON.stringify(document) ? manifest : renderYaml(shown);
}
