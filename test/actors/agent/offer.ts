/** A node's offer and a small good manifest, for tests of both. */

import { validateManifest } from "../../../actors/agent/manifest/manifest.ts";
import { builtInRuntimes } from "../../../actors/agent/manifest/runtime/runtimes.ts";
import type { AgentSpec, NodeOffer } from "../../../actors/agent/manifest/spec.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Issue } from "../../../actors/kernel/problem.ts";
import { builtinTools } from "../../../actors/tool/catalog.ts";

export const offer: NodeOffer = {
  runtimes: builtInRuntimes,
  isolations: ["process"],
  defaultIsolation: "process",
  imageRegistries: null,
  localImages: null,
  hostPaths: [],
  maxExecutionSeconds: 21_600,
  tools: builtinTools.map((tool) => tool.name),
  openEgress: true,
  development: false,
  programFault: () => null,
  servesModel: (alias) => alias === "default",
};

export type Tree = { [key: string]: Json | undefined };

export function manifest(overrides: Tree = {}): Tree {
  return {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: "greeter", version: "1.0.0" },
    spec: { runtime: { language: "python", version: "3.12" }, task: { instruction: "Say hello." } },
    ...overrides,
  };
}

/** A good manifest with one member of any depth replaced; `null` removes it. Path is dotted. */
export function manifestWith(path: string, value: Json): Tree {
  const root = structuredClone(manifest()) as Tree;
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const holder = keys.reduce<Tree>((node, key) => {
    node[key] ??= {};
    return node[key] as Tree;
  }, root);
  if (value === null) delete holder[last];
  else holder[last] = value;
  return root;
}

/** What a manifest comes to, as far as tests look at it. */
export interface Reading {
  /** Of the answer as a whole; null when the manifest is good. */
  readonly code: string | null;
  /** Path and code of each. */
  readonly issues: readonly (readonly [path: string, code: string])[];
  readonly warnings: readonly (readonly [path: string, code: string])[];
  /** The names of the judges it relies on. */
  readonly judges: readonly string[];
  readonly spec: AgentSpec | null;
}

export function reading(document: Json, over: Partial<NodeOffer> = {}): Reading {
  const verdict = validateManifest(document, { ...offer, ...over });
  if (!verdict.ok) {
    const issues = verdict.problem.extras.issues as Issue[];
    const { code } = verdict.problem;
    return { code, issues: issues.map((one) => [one.path, one.code]), warnings: [], judges: [], spec: null };
  }
  const { spec, warnings, judges } = verdict;
  const told = warnings.map((one) => [one.path, one.code] as const);
  return { code: null, issues: [], warnings: told, judges: judges.map(({ name }) => name), spec };
}

/** @throws when the manifest is refused */
export function specOf(document: Json, over: Partial<NodeOffer> = {}): AgentSpec {
  const { spec, issues } = reading(document, over);
  if (spec === null) throw new Error(`refused: ${JSON.stringify(issues)}`);
  return spec;
}
