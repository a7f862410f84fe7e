/** What a node says of a manifest. */
import { expect } from "bun:test";
import { validateManifest } from "../../../actors/agent/manifest/manifest.ts";
import type { NodeOffer } from "../../../actors/agent/manifest/spec.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Issue } from "../../../actors/kernel/problem.ts";
import { offer } from "./offer.ts";

export function verdictOf(document: Json, over: Partial<NodeOffer> = {}) {
  const verdict = validateManifest(document, { ...offer, ...over });
  if (verdict.ok) return { code: null, issues: [], warnings: verdict.warnings, spec: verdict.spec };
  return { code: verdict.problem.code, issues: verdict.problem.extras.issues as Issue[], warnings: [], spec: null };
}

export function specOf(document: Json, over: Partial<NodeOffer> = {}) {
  const { spec, issues } = verdictOf(document, over);
  expect(issues).toEqual([]);
  if (spec === null) throw new Error("refused");
  return spec;
}
