/**
 * What looks like a secret in the arguments of a tool call, left out where people and records see them. Values that an
 * execution was given never get that far (docs/reference/secrets.md); this is for what a model has from elsewhere.
 */
import { isObject, type Json } from "../kernel/json.ts";
import { redactedMark } from "./shown.ts";

/** Ends of member names, without regard to case and separators, whose texts are secrets. */
const secretName =
  /(?:password|passwd|passphrase|secret|token|apikey|authorization|privatekey|accesskey|secretkey|credentials?|cookie)$/;

/**
 * Texts that are secrets by their form; a first group stays. A model writes what they are held against, megabytes of it:
 * none of them looks at a character more often than a fixed number of times.
 */
const secretTexts: readonly RegExp[] = [
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?=-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi,
  /((?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key|access[_-]?key)["']?\s*[=:]\s*["']?)(?!\[redacted\])[^\s"'&;,]{4,}/gi,
  /()\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[A-Z0-9]{16}\b/g,
];

/** The arguments with `[redacted]` in the place of what is, or looks like, a secret. */
export function redactedArguments(given: { readonly [name: string]: Json | undefined }): { [name: string]: Json } {
  return redactedMembers(given);
}

function redactedMembers(given: { readonly [name: string]: Json | undefined }): { [name: string]: Json } {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]): [string, Json] => {
      const isSecret = secretName.test(name.toLowerCase().replace(/[^a-z0-9]/g, ""));
      return [name, isSecret ? withoutTexts(value ?? null) : redacted(value ?? null)];
    }),
  );
}

function redacted(value: Json): Json {
  if (typeof value === "string") return redactedText(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map(redacted);
  return isObject(value) ? redactedMembers(value) : value;
}

/** Every text of a value; numbers and truth values are no secrets. */
function withoutTexts(value: Json): Json {
  if (typeof value === "string") return value === "" ? value : redactedMark;
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutTexts(member)]));
}

function redactedText(text: string): string {
  const left = text.includes(tokenStart) ? text.replace(/[\w.-]+/g, withoutTokens) : text;
  return secretTexts.reduce((rest, pattern) => rest.replace(pattern, (_, kept = "") => `${kept}${redactedMark}`), left);
}

/** JSON in base64url begins so: the first of the three parts of a signed token. */
const tokenStart = "eyJ";
/** Characters of a part, without that beginning. */
const shortestPart = 8;

/** @param run letters, digits, `-`, `_` and `.` alone */
function withoutTokens(run: string): string {
  const parts = run.split(".");
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const start = startOfToken(part);
    const isToken = at + 2 < parts.length && start >= 0 && (parts[at + 1]?.length ?? 0) >= shortestPart;
    kept.push(isToken ? `${part.slice(0, start)}${redactedMark}` : part);
    if (isToken) at += 2;
  }
  return kept.join(".");
}

/** Where a token may begin in its first part; -1: nowhere. */
function startOfToken(part: string): number {
  for (let at = part.indexOf(tokenStart); at >= 0; at = part.indexOf(tokenStart, at + 1)) {
    if (part.length - at < tokenStart.length + shortestPart) return -1;
    if (at === 0 || part[at - 1] === "-") return at;
  }
  return -1;
}
