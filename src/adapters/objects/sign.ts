/** Signatures of requests to a store that speaks S3's protocol (AWS Signature Version 4, in headers). */
import { createHash, createHmac } from "node:crypto";
import type { Secret } from "../../lib/secret.ts";

export interface SigningKeys {
  readonly region: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

export interface Signable {
  readonly method: string;
  /** Where it goes: its path as it is sent, its query empty. */
  readonly url: URL;
  /** Not encoded yet. */
  readonly query: Readonly<Record<string, string>>;
  /** Further headers that are signed, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The body is not signed: connections to the store are the operator's to protect by TLS. */
const unsignedPayload = "UNSIGNED-PAYLOAD";

/** @param now Unix milliseconds @returns the query as it is sent, and every header that the request needs but `host` */
export function signed(
  { method, url, query, headers }: Signable,
  { region, accessKeyId, secretAccessKey }: SigningKeys,
  now: number,
): { readonly search: string; readonly headers: Record<string, string> } {
  const time = `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const day = time.slice(0, 8);
  const search = Object.entries(query)
    .map(([name, value]) => [strictly(name), strictly(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const sent: Record<string, string> = { ...headers, "x-amz-content-sha256": unsignedPayload, "x-amz-date": time };
  const named = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = named.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    search,
    ...named.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    unsignedPayload,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (before, part) => hmac(before, part).digest(),
    `AWS4${secretAccessKey.reveal()}`,
  );
  const signature = hmac(key, text).digest("hex");
  sent.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId.reveal()}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { search, headers: sent };
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

/** Encodes what RFC 3986 does not reserve. */
export function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
