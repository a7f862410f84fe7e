/** Requests that the service sends to addresses a manifest names: where to, how, and with which headers. */
import type { Fields } from "./fields.ts";

export interface WebTarget {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

const headerBounds = {
  key: { min: 1, max: 128, pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, form: "a header name" },
  value: { max: 4096, pattern: /^[\t\x20-\x7e]*$/, form: "printable ASCII" },
};
/** What the sender or the connection decides. */
const reserved =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|x-svc-.*)$/i;

/** @returns null only after an issue */
export function readWebTarget(fields: Fields): WebTarget | null {
  const url = fields.has("url") ? readWebUrl(fields, "url") : fields.issue("url", "is required");
  const method = readMethod(fields);
  const headers = readHeaders(fields);
  return url === null ? null : { url, method, headers };
}

export function readMethod(fields: Fields): string {
  return fields.choice("method", ["POST", "PUT", "PATCH"]) ?? "POST";
}

export function readHeaders(fields: Fields): Readonly<Record<string, string>> {
  return fields.pairs("headers", 64, headerBounds, (name, _value, path) => {
    const isFree = !reserved.test(name);
    if (!isFree) fields.issue(path, "is set by the service");
    return isFree;
  });
}

/** An `http` or `https` address without user and password; others are issues. */
export function readWebUrl(fields: Fields, key: string): string | null {
  const written = fields.text(key, { min: 1, max: 4096 });
  if (written === null) return null;
  const fault = webUrlFault(written);
  return fault === null ? new URL(written).href : fields.issue(key, fault);
}

/** What is wrong with a text as an address to send requests to; null when nothing is. */
export function webUrlFault(written: string): string | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return "must be an http or https address";
  }
  return url.username === "" && url.password === "" ? null : "may not hold a user or a password";
}
