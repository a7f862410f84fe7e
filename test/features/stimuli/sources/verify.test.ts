/** The order in which a delivery's signature is judged (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Candidate } from "../../../../src/features/stimuli/sources/port.ts";
import {
  readSignatures,
  verifyInTurns,
  verifySignatures,
} from "../../../../src/features/stimuli/sources/verification/verify.ts";
import { candidateOf, secrets, sign, timedSignature, vector, vectorHeaders } from "./signer.ts";

const { at } = vector;
const body = Buffer.from(vector.body);

/** The tenant that verifies, or the refusal's code and reason. */
function judged(candidates: readonly Candidate[], headers: Record<string, string>, nowMs = at * 1000): string {
  try {
    return verifySignatures(readSignatures(candidates, new Headers(headers)), body, nowMs).candidate.tenant;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.code, error.extras.reason].filter(Boolean).join(" ");
  }
}

const acme = { tenant: "acme" };
const other = { tenant: "other" };
const none: readonly string[] = [];

test("nothing is told of a source before a signature is there and well formed", () => {
  const withoutSecret = [candidateOf("svc", none)];
  for (const candidates of [[], withoutSecret]) {
    expect(judged(candidates, {})).toBe("missing_signature");
    expect(judged(candidates, vectorHeaders.github)).toBe("missing_signature");
    expect(judged(candidates, { "x-svc-signature": "sha1=00" })).toBe("malformed_signature bad_prefix");
    expect(judged(candidates, vectorHeaders.svc)).toBe("secret_not_found");
  }
  expect(judged([candidateOf("stripe", none)], vectorHeaders.svc)).toBe("missing_signature");
});

test("an unreadable secret is reported to signing senders only, if no other fits", () => {
  const sealed = { ...candidateOf("svc", none), fault: new Problem("decryption_failed", "It does not open") };
  expect(judged([sealed], {})).toBe("missing_signature");
  expect(judged([sealed], { "x-svc-signature": "sha256=x" })).toBe("malformed_signature bad_hex");
  expect(judged([sealed], vectorHeaders.svc)).toBe("decryption_failed");
  expect(judged([sealed, candidateOf("svc", undefined, other)], vectorHeaders.svc)).toBe("other");
  expect(judged([sealed, candidateOf("github", none, other)], vectorHeaders.github)).toBe("secret_not_found");
});

test("one well-formed header is enough, and one secret that goes with it", () => {
  const both = [candidateOf("svc", none, acme), candidateOf("github", undefined, other)];
  expect(judged(both, vectorHeaders.github)).toBe("other");
  expect(judged(both, { ...vectorHeaders.github, "x-svc-signature": "?" })).toBe("other");
  expect(judged(both, { ...vectorHeaders.svc, "x-hub-signature-256": "?" })).toBe("secret_not_found");
  const malformed = { "x-svc-signature": "sha256=x", "x-hub-signature-256": "?" };
  expect(judged(both, malformed)).toBe("malformed_signature bad_hex");
  expect(judged(both.toReversed(), malformed)).toBe("malformed_signature bad_prefix");
});

test("any current or previous secret of any candidate verifies, in any place", () => {
  const wrong = "not-the-secret-at-all";
  const right = secrets.svc;
  for (const texts of [[right], [right, wrong], [wrong, right], [right, right]]) {
    expect(judged([candidateOf("svc", texts)], vectorHeaders.svc)).toBe("acme");
    const crowd = Array.from({ length: 19 }, (_, index) =>
      candidateOf("svc", [wrong, "x".repeat(16)], { tenant: `t${index}` }),
    );
    expect(judged([...crowd, candidateOf("svc", texts)], vectorHeaders.svc)).toBe("acme");
  }
  expect(judged([candidateOf("svc", [wrong, `${right} `])], vectorHeaders.svc)).toBe("invalid_signature mismatch");
});

test("a secret of two tenants names neither; two of one tenant do", () => {
  const twice = [candidateOf("svc", undefined, acme), candidateOf("svc", undefined, other)];
  expect(judged(twice, vectorHeaders.svc)).toBe("ambiguous_webhook_route");
  expect(judged([candidateOf("svc"), candidateOf("github")], { ...vectorHeaders.svc, ...vectorHeaders.github })).toBe(
    "acme",
  );
  const schemes = [candidateOf("svc", undefined, acme), candidateOf("github", undefined, other)];
  expect(judged(schemes, { ...vectorHeaders.svc, ...vectorHeaders.github })).toBe("ambiguous_webhook_route");
  expect(judged(schemes, vectorHeaders.svc)).toBe("acme");
});

test("each candidate has its own tolerance; out of all of them is a reason of its own", () => {
  const strict = candidateOf("slack", undefined, { ...acme, toleranceSeconds: 30 });
  const lenient = candidateOf("slack", ["some other secret"], { ...other, toleranceSeconds: 900 });
  const later = (at + 31) * 1000;
  expect(judged([strict], vectorHeaders.slack, later - 1)).toBe("acme");
  expect(judged([strict], vectorHeaders.slack, later)).toBe("invalid_signature timestamp_out_of_tolerance");
  expect(judged([strict, lenient], vectorHeaders.slack, later)).toBe("invalid_signature mismatch");
  const shared = candidateOf("slack", undefined, { ...other, toleranceSeconds: 900 });
  expect(judged([strict, shared], vectorHeaders.slack, later)).toBe("other");
  expect(judged([strict, candidateOf("svc")], { ...vectorHeaders.slack, ...vectorHeaders.svc }, later)).toBe("acme");
});

test("a source may insist on a signed time; a neighbour on its URL need not", () => {
  const strict = candidateOf("svc", undefined, { ...acme, requireTimestamp: true });
  const timed = timedSignature({ secret: secrets.svc, body: vector.body, at });
  expect(judged([strict], timed)).toBe("acme");
  expect(judged([strict], vectorHeaders.svc)).toBe("malformed_signature missing_part");
  expect(judged([strict, candidateOf("svc", undefined, other)], vectorHeaders.svc)).toBe("other");
  expect(judged([strict, candidateOf("svc", none, other)], vectorHeaders.svc)).toBe("secret_not_found");
});

test("what is returned tells the scheme and what the headers said", () => {
  const headers = sign.standard_webhooks({ secret: secrets.standard_webhooks, body: vector.body, at });
  const read = readSignatures([candidateOf("standard_webhooks")], new Headers(headers));
  const { preset, signed, candidate } = verifySignatures(read, body, at * 1000);
  expect([preset.name, signed.id, signed.timestamp, candidate.source]).toEqual([
    "standard_webhooks",
    "msg_2",
    at,
    "ci",
  ]);
});

test("refusals show neither secrets nor signatures", () => {
  for (const headers of [
    { "x-svc-signature": `sha256=${"ab".repeat(32)}` },
    { "x-svc-signature": "sha256=zz-secret" },
  ]) {
    try {
      verifySignatures(readSignatures([candidateOf("svc")], new Headers(headers)), body, 0);
    } catch (error) {
      expect(Bun.inspect(error)).not.toMatch(/contract-test-secret|zz-secret|abab/);
    }
  }
});

test("large bodies with many candidates are verified in turns, with the same answers", async () => {
  const large = Buffer.alloc(1_048_576, "x");
  const headers = (secret: string) => new Headers(sign.svc({ secret, body: large.toString(), at }));
  const candidates = Array.from({ length: 20 }, (_, index) =>
    candidateOf("svc", [`current-secret-${index}`, `previous-secret-${index}`], { tenant: `tenant-${index}` }),
  );
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const verify = (secret: string) =>
    verifyInTurns(readSignatures(candidates, headers(secret)), large, at * 1000).then(
      ({ candidate }) => candidate.tenant,
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  const answers = await Promise.all([verify("previous-secret-7"), verify("wrong"), verify("current-secret-19")]);
  isOver = true;
  expect(answers).toEqual(["tenant-7", "invalid_signature", "tenant-19"]);
  expect(turns).toBeGreaterThanOrEqual(3 * 20);
});
