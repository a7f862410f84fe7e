/**
 * Checks an input against the schema of its agent or workflow without holding up the node: schemas of bounded price are checked here
 * with a compiled check that is kept, all others in a guarded process.
 */
import { fileURLToPath } from "node:url";
import type { ValidateFunction } from "ajv";
import { maxInputBytes } from "../../../actors/execution/start/request.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import {
  agentInput,
  type InputRules,
  type InputVerdict,
  isTame,
  judgeInput,
} from "../../../actors/manifest/json-schema/input-schema.ts";
import { compileSchema } from "../../../actors/manifest/json-schema/json-schema.ts";
import { isStorableJson, unusableText } from "../../../actors/manifest/storable.ts";
import { BudgetExceeded } from "../guarded/child.ts";
import { runGuarded } from "../guarded/guarded.ts";

const program = fileURLToPath(new URL("./input-program.ts", import.meta.url));
const budgetMs = 5_000;
/** Members and items of a schema that is compiled here: compiling one takes up to half a millisecond. */
const maxMembersHere = 100;
/** Characters of the schema times those of the input: some 20 ms at worst. */
const maxPriceHere = 4 * 1024 * 1024;

interface Known {
  readonly characters: number;
  /** Null: not to be checked here. */
  readonly validate: ValidateFunction | null;
}

/** By the schema itself: it lives as long as its agent's specification is remembered. */
const known = new WeakMap<object, Known>();

/**
 * What is wrong with an input under any schema; null: nothing.
 * @param text its JSON
 * @param most bytes of that
 */
export function inputFault(input: Json, text: string, most: number): string | null {
  if (Buffer.byteLength(text) > most) return `is larger than ${most} bytes`;
  // A prompt travels as a program's argument, which cannot hold NUL. Escapes show in the JSON text.
  return !/\\u0000|\\ud[89a-f]/i.test(text) || isStorableJson(input) ? null : unusableText;
}

/** Who waits for the check of an input. */
export interface Checking {
  readonly tenant: string;
  /** Gives the signal that the caller has left; null: the start is stored and waits for as long as it takes. */
  readonly left: (() => AbortSignal) | null;
  /** Durable work of a caller who may leave all the same: it waits for as long as it takes, too. */
  readonly durable?: boolean;
}

/** How an input is checked, beside its schema. */
export interface CheckRules {
  readonly rules: InputRules;
  /** Characters that the input may have with its defaults. */
  readonly most: number;
  /** The schema is the service's own: what it costs is known to be little, patterns and all. */
  readonly isOwn?: boolean;
}

const agentRules: CheckRules = { rules: agentInput, most: maxInputBytes };

/**
 * @param characters length of the input's JSON
 * @returns issues that say so when the check takes too long
 * @throws SlotsFull when too many checks are waiting; the signal's reason when the caller has left
 */
export async function checkAgainstSchema(
  checking: Checking,
  schema: Json,
  input: Json,
  characters: number,
  how = agentRules,
): Promise<CheckedInput> {
  const verdict = await verdictOf(checking, schema, input, characters, how);
  // Defaults, and a text read as JSON, may bring in what cannot be stored.
  if (!verdict.ok || verdict.input === input) return verdict;
  const fault = inputFault(verdict.input, JSON.stringify(verdict.input), Number.POSITIVE_INFINITY);
  return fault === null ? verdict : refusal(fault);
}

async function verdictOf(
  { tenant, left, durable = left === null }: Checking,
  schema: Json,
  input: Json,
  characters: number,
  { rules, most, isOwn = false }: CheckRules,
): Promise<CheckedInput> {
  if (schema === null || schema === true) return { ok: true, input };
  if (typeof schema !== "object") return refusal("is not accepted: the input_schema admits nothing");
  const { validate, characters: length } = knownOf(schema, isOwn);
  if (validate !== null && (isOwn || length * characters <= maxPriceHere)) {
    return judgeInput(schema, validate, input, most, rules);
  }
  try {
    const job: InputJob = { schema, input, maxCharacters: most, rules };
    const guard = { kind: "computation", tenant, budgetMs, signal: left?.(), durable } as const;
    return (await runGuarded(program, job, guard)) as InputVerdict;
  } catch (error) {
    if (error instanceof BudgetExceeded) {
      return { ...refusal(`takes longer than ${budgetMs / 1000} s to check`), isCostly: true };
    }
    throw error;
  }
}

/** `isCostly`: refused because the check took too long, which costs its start's rate. */
export type CheckedInput = InputVerdict & { readonly isCostly?: boolean };

export interface InputJob {
  readonly schema: Json;
  readonly input: Json;
  /** Characters that defaults may add. */
  readonly maxCharacters: number;
  readonly rules: InputRules;
}

function knownOf(schema: object & Json, isOwn: boolean): Known {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const { length } = JSON.stringify(schema);
  const fresh: Known = {
    characters: length,
    validate: isOwn || isTame(schema, maxMembersHere) ? compileSchema(schema) : null,
  };
  known.set(schema, fresh);
  return fresh;
}

const refusal = (message: string): InputVerdict => ({ ok: false, issues: [{ path: "input", message }] });
