/** The values of API keys. */
import { keyDigest } from "../../identity/callers/api-keys.ts";
import type { StoredValue } from "./records.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const length = 40;
/** Bytes from here on would make the first characters likelier than the others. */
const fair = 256 - (256 % alphabet.length);

/** `svc_` and 40 characters, each of the 62 as likely as any other. */
export function newKeyValue(): string {
  let text = "svc_";
  while (text.length < 4 + length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(2 * length)))
      if (byte < fair && text.length < 4 + length) text += alphabet[byte % alphabet.length];
  }
  return text;
}

/** What is kept of a value. */
export const storedValue = (value: string): StoredValue => ({
  hash: keyDigest(value),
  prefix: value.slice(0, 8),
  last4: value.slice(-4),
});
