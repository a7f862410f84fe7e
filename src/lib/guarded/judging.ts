/**
 * Judging documents of tenants: small ones here, all others in a guarded process, so that no document holds up the
 * node for longer than a few milliseconds.
 */
import { factsOf, Problem, type ProblemFacts, problemOf } from "../../../actors/kernel/problem.ts";
import { BudgetExceeded } from "./child.ts";
import { runGuarded } from "./guarded.ts";

/** What a judging process answers: what the work returned, or the refusal it threw. */
export type Judgement<T> = { readonly found: T } | { readonly refusal: ProblemFacts };

/** Who waits for a document to be judged. */
export interface Waiter {
  readonly tenant: string;
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal | undefined;
}

/** Characters of a document that is read and judged here. */
const maxCharactersHere = 8 * 1024;
/** Members whose content is compiled, which may take hundreds of milliseconds for each KiB. */
const compiled = /schema"?:|"?pattern"?:/;
const budgetMs = 4_000;

/** The process's side: refusals become values. */
export function judged<T>(work: () => T): Judgement<T> {
  try {
    return { found: work() };
  } catch (error) {
    if (error instanceof Problem) return { refusal: factsOf(error) };
    throw error;
  }
}

/** Whether a text can be read, and what it holds judged, on the main thread: nothing in it multiplies. */
export const isSmall = (text: string): boolean => text.length <= maxCharactersHere && !/[&*]\w/.test(text);

/** Whether a document, as JSON, can be judged on the main thread. */
export const isPlain = (json: string): boolean => json.length <= maxCharactersHere && !compiled.test(json);

/**
 * Runs one job in the judging process.
 * @param program path of a module that serves `judged` work
 * @throws Problem the refusal of the work; 422 `invalid_manifest` when it takes too long; SlotsFull; the signal's reason
 */
export async function judgeGuarded<T>(program: string, job: unknown, { tenant, signal }: Waiter): Promise<T> {
  try {
    const judgement = (await runGuarded(program, job, {
      kind: "computation",
      tenant,
      budgetMs,
      signal,
    })) as Judgement<T>;
    if ("refusal" in judgement) throw problemOf(judgement.refusal);
    return judgement.found;
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    const message = `takes longer than ${budgetMs / 1000} s to judge; its schemas, patterns or templates are too large`;
    throw new Problem("invalid_manifest", `The manifest ${message}`, {
      issues: [{ path: "", message, code: "invalid" }],
    });
  }
}
