/** How a run goes over its hosts: in which order and number, when it halts, how long it waits. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidField } from "../kernel/problem.ts";
import { Nullable } from "../kernel/schema.ts";
import { folded } from "./words.ts";
import {
  isRecord,
  readBoolean,
  readInteger,
  readMembers,
  readShare,
  readTagged,
  sharesOf,
  type Written,
} from "./written.ts";

/** A number of hosts, or a part of those that are resolved. */
const ShareOf = Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: "^([1-9]\\d?|100)%$" })]);
const Count = Type.Integer({ minimum: 0 });

/** Ends of commands that count as failures. */
export const failures = ["err", "timed_out", "refused", "lost", "expired"] as const;
export type Failure = (typeof failures)[number];
const FailureWord = Type.Union(failures.map((word) => Type.Literal(word)));

/** As it is kept and shown. */
export const Policy = Type.Object({
  mode: Type.Union([
    Type.Literal("Sequential"),
    Type.Literal("Parallel"),
    Type.Object({ Rolling: Type.Object({ batch: ShareOf }) }),
  ]),
  /** Null: that of a batch, which is a part of what is resolved. */
  max_concurrency: Nullable(Type.Integer({ minimum: 1 })),
  failure_policy: Type.Union([
    Type.Literal("FailFast"),
    Type.Literal("ContinueOnError"),
    Type.Object({ StopAfter: Type.Integer({ minimum: 1 }) }),
    Type.Object({ StopAfterPercent: Type.Integer({ minimum: 1, maximum: 100 }) }),
  ]),
  require_min_targets: Nullable(Type.Integer({ minimum: 1 })),
  per_target_deadline_secs: Count,
  run_deadline_secs: Nullable(Count),
  canary: Nullable(ShareOf),
  canary_soak_secs: Count,
  pause_after_canary: Type.Boolean(),
  retries: Count,
  retry_on: Type.Array(FailureWord),
  retry_delay_secs: Count,
  offline_ttl_secs: Count,
  disconnect_grace_secs: Count,
  approval: Type.Boolean(),
  approval_timeout_secs: Count,
  max_output_bytes: Count,
});
export type Policy = Static<typeof Policy>;
type Mode = Policy["mode"];
type FailurePolicy = Policy["failure_policy"];

/** Hosts of one run. */
export const maxTargets = 10_000;
/** Commands of one run that are under way at once. */
const maxInFlight = 1000;
const week = 604_800;

const integers = {
  max_concurrency: [1, maxInFlight],
  require_min_targets: [1, maxTargets],
  per_target_deadline_secs: [1, 86_400],
  run_deadline_secs: [1, week],
  canary_soak_secs: [0, 3600],
  retries: [0, 3],
  retry_delay_secs: [0, 3600],
  offline_ttl_secs: [0, week],
  disconnect_grace_secs: [0, 3600],
  approval_timeout_secs: [60, week],
  max_output_bytes: [1024, 16_777_216],
} as const;
type IntegerName = keyof typeof integers;

/** Its members as they are written, with what belongs to a mode or a failure policy that is a bare word. */
const policyMembers = [
  ...(Object.keys(integers) as IntegerName[]),
  "deadline_secs",
  "mode",
  "batch",
  "failure_policy",
  "n",
  "canary",
  "pause_after_canary",
  "retry_on",
  "approval",
] as const;
const known = new Set(policyMembers.map(folded));

/**
 * Reads a policy.
 * @param value null and undefined are an empty one
 * @param beside the request, whose members of the same names count where the policy has none
 * @throws Problem 422, also for a member that is not known in `value`
 */
export function readPolicy(value: unknown, beside: Readonly<Record<string, unknown>> = {}): Policy {
  const nested = readMembers(value ?? {}, "policy", known);
  const besides = readMembers(
    Object.fromEntries(Object.entries(beside).filter(([name]) => known.has(folded(name)))),
    "body",
    known,
  );
  const of = (name: string): Written | undefined => nested.get(folded(name)) ?? besides.get(folded(name));
  const integer = <Fallback>(name: IntegerName, fallback: Fallback): number | Fallback => {
    const member = of(name);
    if (member === undefined) return fallback;
    const [min, max] = integers[name];
    return readInteger(member, min, max);
  };
  const flag = (name: string): boolean => {
    const member = of(name);
    return member === undefined ? false : readBoolean(member);
  };
  const mode = readMode(of("mode"), of("batch"));
  const [canary, deadline] = [of("canary"), of("deadline_secs")];
  const usualDeadline = deadline === undefined ? 60 : readInteger(deadline, ...integers.per_target_deadline_secs);
  return {
    mode,
    max_concurrency: concurrencyOf(mode, integer("max_concurrency", null)),
    failure_policy: readFailurePolicy(of("failure_policy"), of("n")),
    require_min_targets: integer("require_min_targets", null),
    per_target_deadline_secs: integer("per_target_deadline_secs", usualDeadline),
    run_deadline_secs: integer("run_deadline_secs", null),
    canary: canary === undefined ? null : readShare(canary, maxTargets),
    canary_soak_secs: integer("canary_soak_secs", 0),
    pause_after_canary: flag("pause_after_canary"),
    retries: integer("retries", 0),
    retry_on: readRetryOn(of("retry_on")),
    retry_delay_secs: integer("retry_delay_secs", 0),
    offline_ttl_secs: integer("offline_ttl_secs", 0),
    disconnect_grace_secs: integer("disconnect_grace_secs", 120),
    approval: flag("approval"),
    approval_timeout_secs: integer("approval_timeout_secs", 3600),
    max_output_bytes: integer("max_output_bytes", 1_048_576),
  };
}

/**
 * A former policy, with what is given in place of its members.
 * @param given null and undefined leave it as it was
 * @throws Problem 422, also for a `batch` or `n` that does not belong to the words that stay
 */
export function retryPolicy(former: Policy, given: unknown): Policy {
  if (given === undefined || given === null) return former;
  const members = isRecord(given) ? Object.entries(given) : [];
  const names = new Set(members.filter(([, value]) => value !== null).map(([name]) => folded(name)));
  const { max_concurrency, mode, failure_policy, ...kept } = former;
  return readPolicy(given, {
    ...kept,
    // What is given takes the place of the number that belongs to the word.
    mode: names.has("batch") ? wordOf(mode) : mode,
    failure_policy: names.has("n") ? wordOf(failure_policy) : failure_policy,
    // That of another mode, or of another batch, is another one.
    ...(names.has("mode") || names.has("batch") ? {} : { max_concurrency }),
  });
}

const wordOf = (tagged: Mode | FailurePolicy): string =>
  typeof tagged === "string" ? tagged : (Object.keys(tagged)[0] ?? "");

/** What is written, or else what the mode means. Sequential is one at a time, whatever is written. */
function concurrencyOf(mode: Mode, written: number | null): number | null {
  if (mode === "Sequential") return 1;
  if (written !== null) return written;
  if (mode === "Parallel") return maxInFlight;
  return typeof mode.Rolling.batch === "number" ? Math.min(maxInFlight, mode.Rolling.batch) : null;
}

/** Commands of a run that are under way at once. @param resolved hosts of it */
export const concurrency = ({ mode, max_concurrency }: Policy, resolved: number): number =>
  max_concurrency ?? Math.max(1, Math.min(maxInFlight, batchOf(mode, resolved)));

/** Hosts that begin before any of the next begins. */
export const batchOf = (mode: Mode, resolved: number): number =>
  typeof mode === "object" ? Math.max(1, sharesOf(mode.Rolling.batch, resolved)) : maxTargets;

/** Whether so many failures among so many hosts halt a run. */
export function isFailed(policy: FailurePolicy, failed: number, resolved: number): boolean {
  if (policy === "ContinueOnError" || failed === 0) return false;
  if (policy === "FailFast") return true;
  if ("StopAfter" in policy) return failed >= policy.StopAfter;
  return failed * 100 >= policy.StopAfterPercent * resolved;
}

const modes = new Set(["sequential", "parallel", "rolling"]);
const batchOnly = new Set(["batch"]);

function readMode(mode: Written | undefined, batch: Written | undefined): Mode {
  if (mode === undefined) return withoutMore("Sequential", batch, "batch", "a Rolling mode");
  const { word, of, form } = readTagged(mode.value, mode.path, modes);
  if (word !== "rolling") {
    requireEmpty(of);
    return withoutMore(word === "parallel" ? "Parallel" : "Sequential", batch, "batch", "a Rolling mode");
  }
  const own = form === "word" ? undefined : readOwn(of, batchOnly, "batch");
  const size = own ?? batch;
  if (size === undefined) throw invalidField(`${mode.path}.batch`, "is required");
  return { Rolling: { batch: readShare(size, maxTargets) } };
}

const failureWords = new Set(["failfast", "continueonerror", "stopafter", "stopafterpercent"]);
const numberOnly = new Set(["n", "p", "percent"]);

function readFailurePolicy(policy: Written | undefined, n: Written | undefined): FailurePolicy {
  if (policy === undefined) return withoutMore("FailFast", n, "n", "a failure policy StopAfter or StopAfterPercent");
  const { word, of, form } = readTagged(policy.value, policy.path, failureWords);
  if (word === "failfast" || word === "continueonerror") {
    requireEmpty(of);
    const read = word === "failfast" ? "FailFast" : "ContinueOnError";
    return withoutMore(read, n, "n", "a failure policy StopAfter or StopAfterPercent");
  }
  const own = form === "word" ? undefined : readOwn(of, numberOnly, "n", "p", "percent");
  const number = own ?? n;
  if (number === undefined) throw invalidField(`${policy.path}.n`, "is required");
  if (word === "stopafter") return { StopAfter: readInteger(number, 1, maxTargets) };
  return { StopAfterPercent: readInteger(number, 1, 100) };
}

/** What belongs to a word: by itself, or as a member of one of these names. */
function readOwn(of: Written, known: ReadonlySet<string>, ...names: readonly string[]): Written | undefined {
  if (!isRecord(of.value)) return of.value === null ? undefined : of;
  const members = readMembers(of.value, of.path, known);
  return names.map((name) => members.get(name)).find((member) => member !== undefined);
}

function requireEmpty({ value, path }: Written): void {
  if (value !== null) readMembers(value, path, new Set());
}

/** @throws Problem 422 where a member is there that only belongs to another word */
function withoutMore<T>(read: T, member: Written | undefined, name: string, to: string): T {
  if (member !== undefined) throw invalidField(member.path, `${name} belongs to ${to}`);
  return read;
}

function readRetryOn(member: Written | undefined): Failure[] {
  if (member === undefined) return ["err", "timed_out"];
  return readStatuses(member.value, member.path, failures);
}

/**
 * Words for ends of commands, in any spelling, each once.
 * @throws Problem 422
 */
export function readStatuses<Word extends string>(value: unknown, path: string, words: readonly Word[]): Word[] {
  if (!Array.isArray(value) || value.length > 64) throw invalidField(path, "must be a list");
  const read = value.map((item, at) => {
    const word = words.find((one) => typeof item === "string" && folded(one) === folded(item.slice(0, 64)));
    if (word === undefined) throw invalidField(`${path}.${at}`, `must be one of ${words.join(", ")}`, "unknown");
    return word;
  });
  return [...new Set(read)];
}
