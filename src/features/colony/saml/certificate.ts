/** Certificates of identity providers, as people paste them. */
import { X509Certificate } from "node:crypto";

/**
 * Whether a certificate can be checked against now: it parses, and has not expired.
 * @param text PEM, or the base64 of DER
 * @param at Unix ms
 */
export function isCertificateValid(text: string, at: number): boolean {
  try {
    return Date.parse(new X509Certificate(pemOf(text)).validTo) > at;
  } catch {
    return false;
  }
}

/** PEM of the first certificate. */
export function pemOf(text: string): string {
  const found = /-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/.exec(text);
  const base64 = (found?.[1] ?? text).replace(/\s+/g, "");
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
