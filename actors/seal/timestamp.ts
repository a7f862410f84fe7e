/** When an envelope was made: an RFC 3339 text or whole Unix seconds; both mean the same second. */
import { type JsonNode, NumberText } from "./json-text.ts";

const rfc3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;

/**
 * The second that the instant lies in, counted from 1970; null for everything else: numbers with a fraction or an
 * exponent, numbers as text, leap seconds, times without an offset.
 */
export function readTimestamp(node: JsonNode | undefined): number | null {
  if (node instanceof NumberText) {
    const seconds = Number(node.text);
    return /^-?[0-9]+$/.test(node.text) && Number.isSafeInteger(seconds) ? seconds + 0 : null;
  }
  return typeof node === "string" ? secondOf(node) : null;
}

function secondOf(text: string): number | null {
  const found = text.length > maxLength ? null : rfc3339.exec(text);
  if (found === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const [offsetHours, offsetMinutes] = [Number(found[8] ?? 0), Number(found[9] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offset = (offsetHours * 3600 + offsetMinutes * 60) * (found[7] === "-" ? -1 : 1);
  // A fraction lies within the second, before 1970 as well.
  return dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
}

/** A fraction may be of any length that makes sense; a text of megabytes does not. */
const maxLength = 128;

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const daysOf = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Days since 1970-01-01; `Date.UTC` reads the years below 100 as those of the last century. */
function dayNumber(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 86_400_000;
}
