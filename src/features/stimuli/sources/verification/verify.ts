/** Whether a delivery is signed, and by whom (docs/reference/stimuli.md). */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { Candidate, PresetName } from "../port.ts";
import type { Malformed, MalformedReason, Preset, Signed } from "../presets/preset.ts";
import { presets } from "../presets/presets.ts";

/** A candidate with secrets, and what the delivery's headers claim in its scheme. */
export interface SignedCandidate {
  readonly candidate: Candidate;
  readonly preset: Preset;
  readonly signed: Signed;
}

/**
 * Reads the signatures, before there is a body. Each scheme among the candidates is read once.
 * @param candidates without any, the delivery is judged as one of the scheme `svc`
 * @returns those whose secrets are to be tried, in the order given; never empty
 * @throws Problem 401 `missing_signature`, 400 `malformed_signature` {reason}, 401 `secret_not_found`, 500
 *   `decryption_failed` where the only secrets do not open
 */
export function readSignatures(candidates: readonly Candidate[], headers: Headers): readonly SignedCandidate[] {
  const names: readonly PresetName[] =
    candidates.length === 0 ? ["svc"] : [...new Set(candidates.map(({ preset }) => preset))];
  const wellFormed = new Map<PresetName, Signed>();
  let malformed: MalformedReason | null = null;
  for (const name of names) {
    const preset = presets[name];
    if (!preset.present(headers)) continue;
    const found: Signed | Malformed = preset.read(headers);
    if ("malformed" in found) malformed ??= found.malformed;
    else wellFormed.set(name, found);
  }
  if (wellFormed.size === 0) {
    if (malformed === null) throw new Problem("missing_signature", "The delivery carries no signature");
    throw new Problem("malformed_signature", "The signature is malformed", { reason: malformed });
  }
  const complete = candidates.flatMap((candidate): SignedCandidate[] => {
    const signed = wellFormed.get(candidate.preset);
    if (signed === undefined || (candidate.requireTimestamp && signed.timestamp === null)) return [];
    return [{ candidate, preset: presets[candidate.preset], signed }];
  });
  if (complete.length === 0 && candidates.length > 0) {
    throw new Problem("malformed_signature", "The signature is malformed", { reason: "missing_part" });
  }
  const readable = complete.filter(({ candidate }) => candidate.secrets.length > 0);
  if (readable.length === 0) {
    const undecryptable = complete.find(({ candidate }) => candidate.fault !== undefined)?.candidate;
    throw undecryptable?.fault ?? new Problem("secret_not_found", "No secret is set for this source");
  }
  return complete.filter((one) => readable.includes(one) || awayOf(one) !== undefined);
}

/** Why a secret of the candidate is not at hand, though it will be. */
const awayOf = ({ candidate: { fault } }: SignedCandidate): Problem | undefined =>
  fault?.code === "secrets_unavailable" ? fault : undefined;

/**
 * Tries every secret of every candidate whose time is within its tolerance; how long that takes tells nothing of which
 * one matched.
 * @param read as `readSignatures` returns it
 * @param nowMs Unix milliseconds
 * @returns the one whose secret matches, with the time that its body begins with
 * @throws Problem 401 `invalid_signature` {reason}, 503 `secrets_unavailable` where a secret that is away may match, 409
 *   `ambiguous_webhook_route` when secrets of two tenants match
 */
export function verifySignatures(read: readonly SignedCandidate[], body: Uint8Array, nowMs: number): SignedCandidate {
  const timely = timelyOf(read, body, nowMs);
  return theOne(
    timely,
    timely.filter((one) => isSignedBy(one, body)),
  );
}

/** Bytes that are hashed at once: about a quarter of a millisecond. */
const quickBytes = 262_144;

/**
 * The same, one candidate in a turn of the event loop where the body is large: a name that many tenants use has up to
 * 40 secrets, and senders of wrong signatures may come from many addresses at once.
 */
export async function verifyInTurns(
  read: readonly SignedCandidate[],
  body: Uint8Array,
  nowMs: number,
): Promise<SignedCandidate> {
  const timely = timelyOf(read, body, nowMs);
  const secrets = timely.reduce((sum, { candidate }) => sum + candidate.secrets.length, 0);
  const matching: SignedCandidate[] = [];
  for (const one of timely) {
    if (secrets * body.byteLength > quickBytes) await turn();
    if (isSignedBy(one, body)) matching.push(one);
  }
  return theOne(timely, matching);
}

const waiting: (() => void)[] = [];

/** All deliveries together get one turn at a time, and go round: one with few candidates does not wait for all of another's. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(next);
}

/** The candidates whose time is within its tolerance. */
function timelyOf(read: readonly SignedCandidate[], body: Uint8Array, nowMs: number): readonly SignedCandidate[] {
  const seconds = Math.floor(nowMs / 1000);
  return read
    .map((one) => timed(one, body))
    .filter(
      ({ candidate, signed: { timestamp } }) =>
        timestamp === null || Math.abs(seconds - timestamp) <= candidate.toleranceSeconds,
    );
}

/** @throws Problem 401 `invalid_signature` {reason}, 409 `ambiguous_webhook_route` */
function theOne(timely: readonly SignedCandidate[], matching: readonly SignedCandidate[]): SignedCandidate {
  const [first] = matching;
  if (first === undefined) {
    // It may be signed with the one that cannot be read now.
    const away = timely.map(awayOf).find((fault) => fault !== undefined);
    if (away !== undefined) throw away;
    const reason = timely.length === 0 ? "timestamp_out_of_tolerance" : "mismatch";
    throw new Problem("invalid_signature", "The signature is not valid", { reason });
  }
  if (matching.some(({ candidate }) => candidate.tenant !== first.candidate.tenant)) {
    const message = "The signature fits several routes: use the URL of the one that is meant, or another secret";
    throw new Problem("ambiguous_webhook_route", message);
  }
  return first;
}

/** Its time may stand in the body alone. */
function timed(one: SignedCandidate, body: Uint8Array): SignedCandidate {
  const timestamp = one.signed.timestamp ?? one.preset.timeInBody?.(body) ?? null;
  return timestamp === one.signed.timestamp ? one : { ...one, signed: { ...one.signed, timestamp } };
}

function isSignedBy({ candidate, signed }: SignedCandidate, body: Uint8Array): boolean {
  let matches = 0;
  for (const secret of candidate.secrets) {
    const right = createHmac("sha256", secret).update(signed.prefix).update(body).digest();
    for (const claimed of signed.signatures) matches |= sameBytes(right, claimed);
  }
  return matches !== 0;
}

/** 1 for equal bytes. A digest of another length is no secret. */
function sameBytes(right: Uint8Array, claimed: Uint8Array): number {
  return right.length === claimed.length && timingSafeEqual(right, claimed) ? 1 : 0;
}
