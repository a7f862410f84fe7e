/** The second factor: codes that an authenticator shows (RFC 6238), and recovery codes for when it is lost. */
import { randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { sha256Hex } from "../../../lib/digest.ts";

const period = 30;
const bytes = 20;
const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** A new secret, in base32. */
export const newTotpSecret = (): string => new Secret({ buffer: new Uint8Array(randomBytes(bytes)).buffer }).base32;

/** What an authenticator reads, as text or from a picture. */
export const totpUri = (secret: string, realm: string, address: string): string =>
  new TOTP({ issuer: `svc ${realm}`, label: address, secret, digits: 6, period }).toString();

/**
 * The step whose code it is, within one before and after the present; null for none, and for one not later than the
 * last that was taken: each code is good once.
 * @param now Unix milliseconds
 */
export function totpStep(secret: string, code: string, now: number, last: number | null): number | null {
  const token = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return null;
  const delta = TOTP.validate({
    token,
    secret: Secret.fromBase32(secret),
    digits: 6,
    period,
    timestamp: now,
    window: 1,
  });
  if (delta === null) return null;
  const step = Math.floor(now / 1000 / period) + delta;
  return last !== null && step <= last ? null : step;
}

/** Ten codes of 80 random bits each, such as `ABCD-EFGH-JKLM-NPQR`. */
export const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: 10 }, () =>
    Array.from(randomBytes(16), (byte) => base32[byte & 31])
      .join("")
      .replace(/.{4}(?=.)/g, "$&-"),
  );

/** What is stored of a recovery code; null for a text that is none. @param person whose it is */
export function recoveryDigest(person: string, code: string): string | null {
  const plain = code.toUpperCase().replace(/[\s-]/g, "");
  return /^[A-Z2-7]{16}$/.test(plain) ? sha256Hex(`${person}\0${plain}`) : null;
}
