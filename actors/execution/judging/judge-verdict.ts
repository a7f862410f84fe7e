/** What a judge is asked, and how its answer is read. */

import { type Static, Type } from "@sinclair/typebox";
import { isObject, type Json, JsonObject } from "../../kernel/json.ts";
import { storableText } from "../../kernel/text.ts";
import type { MountPlan } from "../start/plan.ts";
import { trimText } from "../trim.ts";

/** A judge's finding, cut to what is kept of it. */
export const JudgeVerdict = Type.Object({
  score: Type.Number(),
  confidence: Type.Number(),
  reasoning: Type.String(),
  signals: Type.Array(Type.Object({ category: Type.String(), score: Type.Number(), message: Type.String() })),
  metadata: JsonObject,
});
export type JudgeVerdict = Static<typeof JudgeVerdict>;

const defaultConfidence = 0.8;
/** How far into an output a verdict is looked for, and how long it may be; in characters. */
const searchedCharacters = 262_144;
const longestVerdict = 65_536;
/** Opening braces that are tried before the search is given up: braces in prose are rarely this many. */
const maxCandidates = 100;

const keptReasoningBytes = 4096;
const keptSignals = 20;
const keptSignalBytes = 512;
const keptMetadataCharacters = 4096;

/**
 * Reads the first JSON object of an output. Null: no verdict.
 * @param reasons members that may hold the reasoning; the first that does counts
 */
export function readVerdict(output: string, reasons: readonly string[] = ["reasoning"]): JudgeVerdict | null {
  const found = firstObject(output);
  if (found === null) return null;
  const { score, confidence = defaultConfidence, signals, metadata } = found;
  const reasoning = reasons.map((name) => found[name]).find((text) => typeof text === "string");
  if (!isShare(score) || !isShare(confidence)) return null;
  return {
    score,
    confidence,
    reasoning: typeof reasoning === "string" ? trimText(storableText(reasoning), keptReasoningBytes) : "",
    signals: readSignals(signals),
    metadata: readMetadata(metadata),
  };
}

const isShare = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;

function readSignals(value: unknown): JudgeVerdict["signals"] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, keptSignals).flatMap((signal: unknown) => {
    if (!isObject(signal)) return [];
    const { category, score, message } = signal;
    if (typeof category !== "string" || typeof score !== "number") return [];
    const cut = (text: Json | undefined) =>
      typeof text === "string" ? trimText(storableText(text), keptSignalBytes) : "";
    return [{ category: cut(category), score, message: cut(message) }];
  });
}

/** Metadata over its limit is dropped as a whole: half a JSON value says nothing. */
function readMetadata(value: unknown): JudgeVerdict["metadata"] {
  if (!isObject(value) || JSON.stringify(value).length > keptMetadataCharacters) return {};
  return storable(value) as JudgeVerdict["metadata"];
}

/** The first JSON object in a text; other text may stand around it. */
function firstObject(text: string): { readonly [key: string]: unknown } | null {
  const searched = text.slice(0, searchedCharacters);
  let from = searched.indexOf("{");
  for (let tries = 0; from !== -1 && tries < maxCandidates; tries++) {
    const end = closingBrace(searched, from);
    // Longer than a verdict may be: what stands inside it must not pass for one.
    if (end === null && searched.length - from > longestVerdict) return null;
    if (end !== null) {
      try {
        return JSON.parse(searched.slice(from, end + 1));
      } catch {
        // Braces of something else.
      }
    }
    from = searched.indexOf("{", from + 1);
  }
  return null;
}

/** Where the brace opened at `from` is closed, braces in strings aside. */
function closingBrace(text: string, from: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length && at - from < longestVerdict; at++) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{") depth += 1;
    else if (char === "}") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return null;
}

/** What a judge is told of the run; sizes are bounded by `judgeInput`. */
export interface JudgedRun {
  readonly task: string;
  /** "" before there is one. */
  readonly output: string;
  readonly criteria: string;
  readonly iteration: number;
  readonly context: "semantic_judge" | "multi_judge" | "tool_judge";
  /** The calls of the iteration so far, oldest first. */
  readonly calls: readonly ToolAudit[];
  /** Names of the tools that were refused. */
  readonly violations: readonly string[];
  readonly mounts: readonly Pick<MountPlan, "name" | "volume_id" | "mount_path" | "access_mode">[];
  /** Of a tool judge. */
  readonly call?: { readonly tool: string; readonly arguments: Json };
}

export interface ToolAudit {
  readonly tool_name: string;
  readonly arguments_json: string;
  readonly status: string;
  readonly result_json: string | null;
  readonly error: string | null;
}

/** Bytes that each may have as JSON: an input has to stay below 1 MiB. */
const maxTaskBytes = 131_072;
const maxOutputBytes = 393_216;
const maxCriteriaBytes = 65_536;
const maxArgumentBytes = 65_536;
const maxShortBytes = 1024;
const keptCalls = 50;
const keptViolations = 100;

/** The input of a judge (a fixed set of members, each with a bound). */
export function judgeInput(run: JudgedRun): { [member: string]: Json } {
  return {
    task: fitting(run.task, maxTaskBytes),
    output: fitting(run.output, maxOutputBytes),
    criteria: fitting(run.criteria, maxCriteriaBytes),
    iteration_number: run.iteration,
    validation_context: run.context,
    tool_audit_history: run.calls.slice(-keptCalls).map((call) => ({
      tool_name: short(call.tool_name),
      arguments_json: short(call.arguments_json),
      status: call.status,
      result_json: call.result_json === null ? null : short(call.result_json),
      error: call.error === null ? null : short(call.error),
    })),
    policy_violations: run.violations.slice(-keptViolations).map(short),
    worker_mounts: run.mounts.map(({ name, volume_id, mount_path, access_mode }) => ({
      name,
      volume_id,
      mount_path,
      access_mode,
    })),
    ...(run.call === undefined ? {} : { tool_name: run.call.tool, arguments: argumentsFor(run.call.arguments) }),
  };
}

const short = (text: string): string => fitting(text, maxShortBytes);

/** Arguments too long to be shown as they are become the start and the end of their text. */
function argumentsFor(value: Json): Json {
  const text = JSON.stringify(value);
  return bytesOf(text) > maxArgumentBytes ? { trimmed: fitting(text, maxArgumentBytes) } : storable(value);
}

/** Trims a text until it has at most `bytes` as JSON, escapes included. */
function fitting(text: string, bytes: number): string {
  const whole = storableText(text);
  let fits = whole;
  for (let cap = bytes; bytesOf(JSON.stringify(fits)) > bytes; cap = Math.floor(cap / 2)) fits = trimText(whole, cap);
  return fits;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

function storable(value: Json): Json {
  if (typeof value === "string") return storableText(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one: Json) => storable(one));
  const members = Object.entries(value).map(
    ([name, member]) => [storableText(name), storable(member ?? null)] as const,
  );
  return Object.fromEntries(members);
}
