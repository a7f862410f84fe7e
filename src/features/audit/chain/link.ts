/**
 * How an entry of the audit log is tied to those before it. Each tenant has a chain of its own (docs/reference/audit.md):
 *
 *     digest(entry) = SHA-256 of the entry's columns as one JSON array, in UTF-8
 *     chain(n)      = SHA-256 of chain(n - 1) and digest(entry n)
 *
 * What is before the first entry is 32 zero bytes.
 */
import { createHash } from "node:crypto";

export const beginning: Buffer = Buffer.alloc(32);

/** `digest(entry)` of a row of `audit_entries`, as an SQL expression. PostgreSQL's `jsonb` has one text for one value. */
export const entryDigest = `sha256(convert_to(jsonb_build_array(id, tenant, (extract(epoch from at) * 1000000)::bigint,
  actor, action, target_type, target_id, outcome, ip, user_agent, request_id, details)::text, 'UTF8'))`;

/** @param previous `chain` of the entry before */
export const link = (previous: Uint8Array, digest: Uint8Array): Buffer =>
  createHash("sha256").update(previous).update(digest).digest();
