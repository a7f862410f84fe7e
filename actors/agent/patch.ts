/**
 * Changes to a manifest that is stored: a whole new one, a JSON merge patch of it (RFC 7396), or single fields
 * by name. The outcome is judged as a whole.
 */

import { isObject, type Json } from "../kernel/json.ts";
import { invalid, invalidField, Problem } from "../kernel/problem.ts";
import { maxManifestBytes } from "../manifest/document.ts";
import { type AgentStatus, agentStatuses } from "./lifecycle.ts";

export interface ManifestPatch {
  /** Null: the manifest stays as it is. `whole` takes the place of the stored document. */
  readonly content: { readonly whole: boolean; readonly document: Json } | null;
  /** Null: the agent's status stays. */
  readonly status: AgentStatus | null;
  /** The agent's name as the patch has it; null when it says nothing about it. */
  readonly name: { readonly path: string; readonly value: Json } | null;
}

const parts = ["apiVersion", "kind", "metadata", "spec"] as const;
/** Fields of `metadata` that a patch may name without it. */
const flat = ["description", "labels", "annotations", "tags"] as const;

/** @throws Problem 422 `validation_failed` for what is no patch at all */
export function readPatch(document: Json): ManifestPatch {
  if (!isObject(document)) throw invalidField("", "must be a manifest, a merge patch of one, or an object of fields");
  const whole = parts.every((part) => Object.hasOwn(document, part));
  if (whole) return { content: { whole, document }, status: null, name: nameIn(document) };
  const { status, name, ...rest } = document;
  const patch = withMetadata(rest);
  return {
    content: Object.keys(patch).length === 0 ? null : { whole, document: patch },
    status: status === undefined || status === null ? null : readStatus(status),
    name: name === undefined || name === null ? nameIn(patch) : { path: "name", value: name },
  };
}

/**
 * The document a patch makes of the stored one.
 * @throws Problem 413 `body_too_large` when it grows beyond a manifest's size
 */
export function patched(stored: Json, content: NonNullable<ManifestPatch["content"]>): Json {
  const document = content.whole ? content.document : mergePatch(stored, content.document);
  if (Buffer.byteLength(JSON.stringify(document)) > maxManifestBytes) {
    throw new Problem("body_too_large", "The manifest would be larger than 1 MiB");
  }
  return document;
}

/**
 * Refuses a patch that would rename the agent.
 * @throws Problem 422 `immutable_field`
 */
export function keepName({ name }: ManifestPatch, current: string): void {
  if (name === null || name.value === current) return;
  const message = "an agent keeps its name; deploy another one under a new name";
  throw invalid("immutable_field", "The name of an agent cannot change", [
    { path: name.path, message, code: "immutable_field" },
  ]);
}

/** The single fields as members of `metadata`; they are stronger than what the patch has there. */
function withMetadata(patch: { readonly [key: string]: Json }): { readonly [key: string]: Json } {
  const named = flat.filter((field) => Object.hasOwn(patch, field));
  if (named.length === 0) return patch;
  const rest = Object.fromEntries(Object.entries(patch).filter(([key]) => !named.some((field) => field === key)));
  const fields = Object.fromEntries(named.map((field) => [field, patch[field] ?? null]));
  const { metadata } = rest;
  return { ...rest, metadata: { ...(isObject(metadata) ? metadata : {}), ...fields } };
}

function nameIn(document: { readonly [key: string]: Json }): ManifestPatch["name"] {
  const { metadata } = document;
  if (!isObject(metadata) || metadata.name === undefined) return null;
  return { path: "metadata.name", value: metadata.name };
}

function readStatus(value: Json): AgentStatus {
  const status = agentStatuses.find((known) => known === value);
  if (status === undefined) throw invalidField("status", `must be one of ${agentStatuses.join(", ")}`);
  return status;
}

/** RFC 7396. Members are defined, never assigned: a key `__proto__` stays a key. */
function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key) ?? null, value));
  }
  return Object.fromEntries(merged);
}
