/** From what went wrong at a vendor to the class that decides about retries, and to a message that tells no secret. */
import { storableText } from "../../../../actors/kernel/text.ts";
import type { Secret } from "../../../lib/secret.ts";
import { AttemptError } from "../attempt.ts";
import type { ModelErrorClass } from "../call.ts";

const longestMessage = 500;

/** Classes that a repeat or another provider cannot mend. */
const terminal: ReadonlySet<ModelErrorClass> = new Set(["authentication", "model_not_found", "invalid_input"]);

export function isTerminal(errorClass: ModelErrorClass): boolean {
  return terminal.has(errorClass);
}

/** The class of an HTTP status; `details` is the body, which some vendors need to be understood. */
export function classOfStatus(status: number, details = ""): ModelErrorClass {
  if (status === 400 && /API_KEY_INVALID|API key not valid|invalid_api_key/i.test(details)) return "authentication";
  if (status === 400 && /model_not_found/.test(details)) return "model_not_found";
  switch (status) {
    case 401:
    case 403:
      return "authentication";
    case 404:
      return "model_not_found";
    case 408:
    case 504:
      return "timeout";
    case 429:
      return "rate_limit";
    case 502:
    case 503:
    case 529:
      return "service_unavailable";
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
      return "invalid_input";
    default:
      return "provider";
  }
}

/** The class of an error that a vendor sent inside a stream, by the words vendors use for its type or code. */
export function classOfWord(word: string): ModelErrorClass {
  if (/authentication|permission|api_key|unauthenticated/i.test(word)) return "authentication";
  if (/not_found/i.test(word)) return "model_not_found";
  if (/rate_limit|quota|resource_exhausted/i.test(word)) return "rate_limit";
  if (/overloaded|unavailable/i.test(word)) return "service_unavailable";
  if (/timeout|deadline/i.test(word)) return "timeout";
  if (/invalid|too_large|context_length/i.test(word)) return "invalid_input";
  return "provider";
}

/** Milliseconds that a `Retry-After` asks for, in either of its forms: seconds or an HTTP date. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  // Date.parse reads much more than HTTP dates ("-5" is one), so a weekday must come first.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A failure with a message fit for people and records: one line, bounded, without the key. */
export function failure(
  errorClass: ModelErrorClass,
  message: string,
  secret: Secret | null,
  retryAfter?: number,
): AttemptError {
  const safe = secret ? secret.removeFrom(message) : message;
  // Vendors quote a wrong key back, partly masked; no such token helps the reader.
  const line = storableText(safe)
    .replace(/\s+/g, " ")
    .replace(/\b(?:[sp]k-|AIza)[-_A-Za-z0-9*]{6,}/g, "[secret]");
  const text = line.length > longestMessage ? `${line.slice(0, longestMessage)}…`.toWellFormed() : line;
  return new AttemptError(errorClass, text, retryAfter);
}
