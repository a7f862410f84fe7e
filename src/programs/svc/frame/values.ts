/** Values of words and options. Each reader names what it refuses. */
import { usageFailure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";

/** A whole number within bounds; undefined stays. @throws Failure `usage` */
export function whole(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw usageFailure(`${name} must be a whole number from ${least} to ${most}, not ${text}`);
  return value;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds, from `90`, `90s`, `15m`, `24h` or `7d`; undefined stays. @throws Failure `usage` */
export function seconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits = "", unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (digits === "") throw usageFailure(`${name} must be a time as 90, 15m or 24h, not ${text}`);
  return Number(digits) * (units[unit] ?? 1);
}

/** A time: ISO 8601, or how long ago as `15m`, `24h`, `7d`; undefined stays. @throws Failure `usage` */
export function instant(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}[smhd]$/.test(text)) return new Date(now - (seconds(name, text) ?? 0) * 1_000).toISOString();
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw usageFailure(`${name} must be a time as 2026-01-31T08:00:00Z, or how long ago as 24h, not ${text}`);
  return new Date(at).toISOString();
}

/** `name=value`, split at the first sign. @throws Failure `usage` */
export function pair(name: string, text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  if (at <= 0) throw usageFailure(`${name} must be name=value, not ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `name=value` pairs as an object of texts. @throws Failure `usage` */
export const texts = (name: string, pairs: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(pairs.map((text) => pair(name, text)));

/** A value as JSON where it is JSON, else as text: `3`, `true`, `["a"]`, `a word`. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text of a file, of standard input for `-`. @throws Failure `usage` that names the file and why it cannot be read */
export async function textOf(io: Io, path: string): Promise<string> {
  if (path === "-") return io.readInput();
  const { readFile } = await import("node:fs/promises");
  const { resolve } = await import("node:path");
  try {
    return await readFile(resolve(io.directory, path), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a directory" : code;
    throw usageFailure(`${path} cannot be read: ${reason}`);
  }
}

/** A text, or with `@` before it the text of that file; `@-` is standard input. @throws Failure `usage` */
export const textOrFile = (io: Io, text: string): Promise<string> =>
  text.startsWith("@") ? textOf(io, text.slice(1)) : Promise.resolve(text);

/**
 * An object from `name=value` pairs and `@file` (JSON or YAML, an object), the later ones stronger. Values are JSON
 * where they are JSON, else texts; `name=@file` is the text of that file.
 * @throws Failure `usage`
 */
export async function objectOf(io: Io, name: string, given: readonly string[] = []): Promise<Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  for (const text of given) {
    if (text.startsWith("@")) Object.assign(object, await documentOf(io, name, text.slice(1)));
    else {
      const [member, value] = pair(name, text);
      object[member] = value.startsWith("@") ? await textOrFile(io, value) : jsonOrText(value);
    }
  }
  return object;
}

/** @throws Failure `usage` for what is no object */
async function documentOf(io: Io, name: string, path: string): Promise<object> {
  const { parse } = await import("yaml");
  const text = await textOf(io, path);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw usageFailure(`${path} is neither JSON nor YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usageFailure(`${name} takes an object; ${path} holds none`);
  return value;
}
