/** A stimulus posted by a caller of the API, read and checked (docs/reference/stimuli.md). */

import type { Identity } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import { invalidAt } from "../../../../actors/kernel/problem.ts";
import { parseSource } from "../../../../actors/stimulus/routing.ts";
import { type Arrival, receiverOf } from "../../../../actors/stimulus/stimulus.ts";
import type { Sources } from "../sources/port.ts";
import { checkedKey } from "./acceptance.ts";
import { acknowledgement } from "./acknowledgement.ts";
import { readContent } from "./written-content.ts";

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
  const { isText, ...content } = readContent(body.content);
  const key = keyOf(body, headers);
  const found = await sourceOf(tenant, source);
  const registered = found?.enabled ? found : null;
  return {
    tenant,
    source,
    channel: "api",
    acknowledge: acknowledgement(headers, registered),
    ...content,
    contentType: isText ? null : "application/json",
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

/** The body's own key, else that of the first of two headers. */
function keyOf({ idempotency_key }: ApiStimulus, headers: Headers): string | null {
  return (
    checkedKey("idempotency_key", idempotency_key) ??
    checkedKey("X-Idempotency-Key", headers.get("x-idempotency-key")) ??
    checkedKey("Idempotency-Key", headers.get("idempotency-key"))
  );
}
