/** A stimulus posted by a caller of the API, read and checked (docs/reference/stimuli.md). */

import type { Identity } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { contentOf } from "../../../../actors/stimulus/content.ts";
import { parseSource } from "../../../../actors/stimulus/routing.ts";
import { type Arrival, receiverOf } from "../../../../actors/stimulus/stimulus.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sources } from "../sources/port.ts";
import { checkedKey } from "./acceptance.ts";
import { acknowledgement } from "./acknowledgement.ts";
import { maxContentBytes } from "./webhooks.ts";

export interface ApiStimulus {
  readonly source: string;
  readonly content: unknown;
  readonly idempotency_key?: string | null;
}

/** With the configured source that it comes through; one that is disabled counts as absent. @throws Problem 413, 422 */
export async function arrivalOf(
  body: ApiStimulus,
  headers: Headers,
  { tenant, identity }: { readonly tenant: string; readonly identity: Identity },
  sourceOf: Sources["sourceOf"],
): Promise<Arrival> {
  const source = parseSource(body.source);
  if (source === null) {
    const rule = "must be 1–128 printable ASCII characters without / ? # % and blanks, first one alphanumeric";
    throw invalidAt("validation_failed", "source", rule);
  }
  const { bytes, isText } = contentBytes(body.content);
  const { content, encoding } = contentOf(bytes);
  const key = keyOf(body, headers);
  const found = await sourceOf(tenant, source);
  const registered = found?.enabled ? found : null;
  return {
    tenant,
    source,
    channel: "api",
    acknowledge: acknowledgement(headers, registered),
    content,
    contentEncoding: encoding,
    contentType: isText ? null : "application/json",
    contentSize: bytes.byteLength,
    contentSha256: sha256Hex(bytes),
    headers: {},
    headersTruncated: false,
    key,
    guard: null,
    sourceId: registered?.id ?? null,
    override: null,
    replayOf: null,
    receivedBy: receiverOf(identity),
    startedBy: starterOf(identity),
  };
}

/** A text as it is, any other value as compact JSON. */
function contentBytes(content: unknown): { readonly bytes: Uint8Array; readonly isText: boolean } {
  const isText = typeof content === "string";
  const text = isText ? content : JSON.stringify(content);
  if (content === null || content === undefined || text.trim() === "") {
    throw invalidAt("validation_failed", "content", "is required and may not be blank");
  }
  if (!text.isWellFormed()) throw invalidAt("validation_failed", "content", "holds a lone surrogate");
  const bytes = Buffer.from(text, "utf8");
  if (bytes.byteLength > maxContentBytes) {
    throw new Problem("body_too_large", `The content is larger than ${maxContentBytes} bytes`, {
      limit_bytes: maxContentBytes,
    });
  }
  return { bytes, isText };
}

/** The body's own key, else that of the first of two headers. */
function keyOf({ idempotency_key }: ApiStimulus, headers: Headers): string | null {
  return (
    checkedKey("idempotency_key", idempotency_key) ??
    checkedKey("X-Idempotency-Key", headers.get("x-idempotency-key")) ??
    checkedKey("Idempotency-Key", headers.get("idempotency-key"))
  );
}
