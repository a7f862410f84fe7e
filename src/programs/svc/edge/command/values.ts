/** Values of flags. Each reader names the flag that it refuses. */
import { usageFailure } from "./exit.ts";

/** A whole number within bounds; null stays null. @throws Failure `usage` */
export function whole(name: string, text: string | null, least: number, most: number): number | null {
  if (text === null) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw usageFailure(`--${name} must be a whole number from ${least} to ${most}, not ${text}`);
  return value;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds, from `90`, `90s`, `15m`, `24h` or `7d`; null stays null. @throws Failure `usage` */
export function seconds(name: string, text: string | null, least: number, most: number): number | null {
  if (text === null) return null;
  const [, digits = "", unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  const value = digits === "" ? Number.NaN : Number(digits) * (units[unit] ?? 1);
  if (!(value >= least && value <= most))
    throw usageFailure(`--${name} must be a time from ${least} s to ${most} s, as 90, 15m or 24h, not ${text}`);
  return value;
}

/** A number, or a share as `25%`; null stays null. @throws Failure `usage` */
export function portion(name: string, text: string | null, most = 10_000): number | string | null {
  if (text === null) return null;
  const [, share] = /^(\d{1,3})%$/.exec(text) ?? [];
  if (share === undefined) return whole(name, text, 1, most);
  if (Number(share) < 1 || Number(share) > 100) throw usageFailure(`--${name} must be from 1% to 100%, not ${text}`);
  return `${Number(share)}%`;
}

/** @throws Failure `usage` */
export function yesNo(name: string, text: string | null): boolean | null {
  if (text === null) return null;
  if (text !== "true" && text !== "false") throw usageFailure(`--${name} is true or false, not ${text}`);
  return text === "true";
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id in lower case, also of `@<uuid>`; null for other texts. */
export function uuidOf(text: string): string | null {
  const id = text.replace(/^@/, "").toLowerCase();
  return uuid.test(id) ? id : null;
}
