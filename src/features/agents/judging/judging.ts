/** Manifests of agents, read and judged without holding up the node. */
import { fileURLToPath } from "node:url";
import { validateManifest } from "../../../../actors/agent/manifest/manifest.ts";
import {
  type ManifestDocument,
  type ManifestSource,
  parseManifest,
  patchTextPaths,
} from "../../../../actors/agent/manifest/parse.ts";
import type { AgentSpec, NodeOffer } from "../../../../actors/agent/manifest/spec.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { renderYaml } from "../../../../actors/manifest/document.ts";
import type { JudgeReference, Warning } from "../../../../actors/manifest/findings.ts";
import { isPlain, isSmall, judgeGuarded, type Waiter } from "../../../lib/guarded/judging.ts";

const program = fileURLToPath(new URL("./judging-program.ts", import.meta.url));

/** A document found good. */
export interface GoodManifest {
  readonly spec: AgentSpec;
  readonly warnings: readonly Warning[];
  readonly judges: readonly JudgeReference[];
  /** As it was sent, or made from the document. */
  readonly yaml: string;
}

/** What the node offers, as JSON: of models and programs only what is said of those that the document names. */
export type OfferFacts = Omit<NodeOffer, "servesModel" | "programFault"> & {
  readonly served: readonly string[];
  readonly programFault: string | null;
};

export type JudgingJob =
  | { readonly do: "parse"; readonly source: ManifestSource; readonly isPatch: boolean }
  | { readonly do: "judge"; readonly document: Json; readonly yaml: string | null; readonly offer: OfferFacts };

/** What a manifest that names no model gets. */
const defaultModel = "default";
/** The only isolation whose instances could run a program of the host. */
const hostIsolation = "process";

/** @throws Problem as `parseManifest` */
export async function readManifest(waiter: Waiter, source: ManifestSource, isPatch = false): Promise<ManifestDocument> {
  if (isSmall(source.text)) return parse(source, isPatch);
  return judgeGuarded(program, { do: "parse", source, isPatch } satisfies JudgingJob, waiter);
}

/**
 * @param yaml the text of the document, where it was YAML
 * @throws Problem 422 for what the document holds
 */
export async function judgeManifest(
  waiter: Waiter,
  document: Json,
  yaml: string | null,
  offer: NodeOffer,
): Promise<GoodManifest> {
  if (isPlain(JSON.stringify(document))) return judge(document, yaml, offer);
  return judgeGuarded(program, { do: "judge", document, yaml, offer: factsFor(document, offer) }, waiter);
}

function factsFor(document: Json, { servesModel, programFault, ...facts }: NodeOffer): OfferFacts {
  const model = textIn(document, "runtime", "model");
  const path = textIn(document, "advanced", "bootstrap_path");
  return {
    ...facts,
    served: [defaultModel, ...(model === null ? [] : [model])].filter((alias) => servesModel(alias)),
    programFault: path === null ? null : programFault(hostIsolation, path),
  };
}

/** The offer as the judging process sees it. */
export function offerFrom({ served, programFault, ...facts }: OfferFacts): NodeOffer {
  return {
    ...facts,
    servesModel: (alias) => served.includes(alias),
    programFault: (isolation) => (isolation === hostIsolation ? programFault : null),
  };
}

/** Either job, wherever it runs. */
export function parse(source: ManifestSource, isPatch: boolean): ManifestDocument {
  return isPatch ? parseManifest(source, patchTextPaths) : parseManifest(source);
}

export function judge(document: Json, yaml: string | null, offer: NodeOffer): GoodManifest {
  const verdict = validateManifest(document, offer);
  if (!verdict.ok) throw verdict.problem;
  const { spec, warnings, judges } = verdict;
  return { spec, warnings, judges, yaml: yaml ?? renderYaml(document) };
}

function textIn(document: Json, section: "runtime" | "advanced", member: string): string | null {
  const spec = isObject(document) ? document.spec : null;
  const found = isObject(spec) ? spec[section] : null;
  const value = isObject(found) ? found[member] : null;
  return typeof value === "string" ? value : null;
}
