/** The kinds of values a setting may have: how each is read, bounded and described. */
import { availableParallelism } from "node:os";
import { isObject } from "../../actors/kernel/json.ts";
import { type Network, readNetwork } from "../../actors/policy/network/address.ts";
import { Secret } from "../lib/secret.ts";

/** Anything wrong with one setting's text. The message completes the sentence "NAME …". */
export class BadValue extends Error {
  override readonly name = "BadValue";
}

/** One row of the configuration table. */
export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  readonly meaning: string;
  /** Empty where the value has none. */
  readonly unit: string;
  /** What counts when it is not set, as people read it. */
  readonly defaultText: string;
  readonly bounds: string;
  /** Where `SVC_CONFIG_FILE` may set it too; the environment wins. */
  readonly filePath: readonly string[] | null;
  /** @throws BadValue */
  parse(text: string): T;
  /** The value when nothing is set. `read` gives the text of another variable. */
  fallback(read: (name: string) => string | undefined): T;
}

/** Settings by the name under which their values are handed over. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;
export type Values<T extends SettingTable> = { readonly [K in keyof T]: ReturnType<T[K]["parse"]> };

export interface Common {
  readonly meaning: string;
  readonly filePath?: readonly string[];
}

export function setting<T>(
  name: string,
  { meaning, filePath = [] }: Common,
  rest: Omit<Setting<T>, "name" | "meaning" | "filePath">,
): Setting<T> {
  return { name, meaning, filePath: filePath.length === 0 ? null : filePath, ...rest };
}

/** A whole number within bounds, both included. */
export function integer(
  name: string,
  options: Common & { readonly unit?: string; readonly min: number; readonly max: number; readonly default: number },
): Setting<number> {
  const { min, max } = options;
  return setting(name, options, {
    unit: options.unit ?? "",
    defaultText: String(options.default),
    bounds: `${min}–${max}`,
    parse: (text) => {
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (Number.isNaN(value)) throw new BadValue("must be a whole number");
      if (value < min || value > max) throw new BadValue(`must be between ${min} and ${max}`);
      return value;
    },
    fallback: () => options.default,
  });
}

/** A number of processes; `auto` is one for each core of this machine. */
export function processes(name: string, options: Common & { readonly max: number }): Setting<number> {
  const number = integer(name, { ...options, min: 1, default: 1 });
  return {
    ...number,
    bounds: `${number.bounds} | auto`,
    parse: (text) => (text === "auto" ? Math.min(options.max, availableParallelism()) : number.parse(text)),
  };
}

/** A TCP port; 0 takes any that is free. */
export function port(name: string, options: Common & { readonly default: number }): Setting<number> {
  return integer(name, { ...options, min: 0, max: 65535 });
}

/** One word of a fixed set. */
export function choice<const W extends string>(
  name: string,
  options: Common & { readonly of: readonly W[]; readonly default: NoInfer<W> },
): Setting<W> {
  return setting<W>(name, options, {
    unit: "",
    defaultText: options.default,
    bounds: options.of.join(" | "),
    parse: (text) => {
      const found = options.of.find((word) => word === text);
      if (found === undefined) throw new BadValue(`must be one of ${options.of.join(", ")}`);
      return found;
    },
    fallback: () => options.default,
  });
}

/** One word of a fixed set, or null. */
export function optionalChoice<const W extends string>(
  name: string,
  options: Common & { readonly of: readonly W[]; readonly defaultText: string },
): Setting<W | null> {
  const [first] = options.of;
  if (first === undefined) throw new TypeError(`${name} offers no choice`);
  const { parse, ...rest } = choice<W>(name, { ...options, default: first as NoInfer<W> });
  return { ...rest, parse, defaultText: options.defaultText, fallback: () => null };
}

/** `true` or `false`. */
export function flag(name: string, options: Common & { readonly default: boolean }): Setting<boolean> {
  const words = choice(name, { ...options, of: ["true", "false"], default: options.default ? "true" : "false" });
  return { ...words, parse: (text) => words.parse(text) === "true", fallback: () => options.default };
}

interface Pattern {
  readonly pattern: RegExp;
  readonly bounds: string;
}

export const address = { pattern: /^[A-Za-z0-9.:_-]{1,253}$/, bounds: "an IP address or a host name" };
export const identifier = { pattern: /^[a-z_][a-z0-9_]{0,47}$/, bounds: "1–48 of a–z, 0–9 and _" };
export const prefix = { pattern: /^[A-Za-z0-9_-]{1,48}$/, bounds: "1–48 of A–Z, a–z, 0–9, _ and -" };
export const anyText = { pattern: /^[^\0]+$/, bounds: "text" };
export const webUrl = {
  pattern: /^https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?$/,
  bounds: "a URL http(s)://… without a trailing slash",
};

/** Text that matches a pattern. */
export function text(name: string, options: Common & Pattern & { readonly default: string }): Setting<string> {
  return setting<string>(name, options, {
    unit: "",
    defaultText: options.default,
    bounds: options.bounds,
    parse: (value) => matched(value, options),
    fallback: () => options.default,
  });
}

/** Text whose default follows from other settings. */
export function derivedText(
  name: string,
  options: Common &
    Pattern & { readonly defaultText: string; fallback(read: (name: string) => string | undefined): string },
): Setting<string> {
  return setting<string>(name, options, {
    unit: "",
    defaultText: options.defaultText,
    bounds: options.bounds,
    parse: (value) => matched(value, options),
    fallback: options.fallback,
  });
}

function matched(value: string, { pattern, bounds }: Pattern): string {
  if (!pattern.test(value)) throw new BadValue(`must be ${bounds}`);
  return value;
}

/** A URL of one of the schemes, or null. */
export function url(
  name: string,
  options: Common & { readonly schemes: readonly string[]; readonly defaultText?: string },
): Setting<string | null> {
  const bounds = options.schemes.map((scheme) => `${scheme}://…`).join(" or ");
  return setting<string | null>(name, options, {
    unit: "URL",
    defaultText: options.defaultText ?? "–",
    bounds,
    parse: (value) => parseUrl(value, options.schemes, bounds),
    fallback: () => null,
  });
}

/**
 * Text that its owner reads.
 * @param options `fault`: what is wrong with it, completing the sentence "NAME …"; null when nothing is
 */
export function readText(
  name: string,
  options: Common & {
    readonly bounds: string;
    readonly unit: string;
    readonly defaultText: string;
    fault(text: string): string | null;
  },
): Setting<string | null> {
  return setting<string | null>(name, options, {
    unit: options.unit,
    defaultText: options.defaultText,
    bounds: options.bounds,
    parse: (value) => {
      const fault = options.fault(value);
      if (fault !== null) throw new BadValue(fault);
      return value;
    },
    fallback: () => null,
  });
}

/** Checks a URL's scheme and drops a trailing slash. @throws BadValue */
function parseUrl(value: string, schemes: readonly string[], bounds: string): string {
  if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol.slice(0, -1))) {
    throw new BadValue(`must be a URL ${bounds}`);
  }
  return value.replace(/\/+$/, "");
}

/**
 * A value that must not be printed, or null.
 * @param options `bytes`: it is a key of that many bytes, in base64
 */
export function secret(
  name: string,
  options: Common & { readonly bytes?: number; readonly defaultText?: string },
): Setting<Secret | null> {
  const { bytes, defaultText = "–" } = options;
  const bounds = bytes === undefined ? "" : `${bytes} bytes in base64`;
  return setting<Secret | null>(name, options, {
    unit: "",
    defaultText,
    bounds,
    parse: (value) => {
      if (bytes !== undefined && !isBase64Of(bytes, value)) throw new BadValue(`must be ${bounds}`);
      return new Secret(value);
    },
    fallback: () => null,
  });
}

/** Whether nothing but that many bytes is written there, with or without padding. */
function isBase64Of(bytes: number, text: string): boolean {
  const read = Buffer.from(text, "base64");
  const written = read.toString("base64");
  return read.length === bytes && (text === written || text === written.replace(/=+$/, ""));
}

/** A JSON document of the outer shape, or null; its inside is checked by its owner. */
export function json(
  name: string,
  options: Common & { readonly shape: "array" | "object"; readonly defaultText?: string },
): Setting<unknown> {
  const { shape, defaultText = "–" } = options;
  return setting<unknown>(name, options, {
    unit: "JSON",
    defaultText,
    bounds: shape,
    parse: (value) => {
      const parsed = parseJson(value);
      const fits = shape === "array" ? Array.isArray(parsed) : isObject(parsed);
      if (!fits) throw new BadValue(`must be a JSON ${shape}`);
      return parsed;
    },
    fallback: () => null,
  });
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** A comma-separated list of web origins; empty when not set. */
export function origins(name: string, options: Common): Setting<readonly string[]> {
  return setting<readonly string[]>(name, options, {
    unit: "",
    defaultText: "none",
    bounds: "origins, comma-separated",
    parse: (value) => {
      const list = value.split(",").map((item) => item.trim());
      const wrong = list.find((item) => !URL.canParse(item) || new URL(item).origin !== item);
      if (wrong !== undefined)
        throw new BadValue(`must list origins such as https://console.example.com; not ${wrong}`);
      return list;
    },
    fallback: () => [],
  });
}

/** A comma-separated list of TCP ports; empty when not set. */
export function ports(name: string, options: Common): Setting<readonly number[]> {
  return setting<readonly number[]>(name, options, {
    unit: "",
    defaultText: "none",
    bounds: "ports, comma-separated",
    parse: (value) =>
      value.split(",").map((item) => {
        const number = /^\s*\d{1,5}\s*$/.test(item) ? Number(item) : 0;
        if (number < 1 || number > 65535) throw new BadValue(`must list ports such as 8080,8443; not ${item.trim()}`);
        return number;
      }),
    fallback: () => [],
  });
}

/** A comma-separated list of servers, each `host:port`; empty when not set. */
export function servers(
  name: string,
  options: Common,
): Setting<readonly { readonly host: string; readonly port: number }[]> {
  return setting<readonly { readonly host: string; readonly port: number }[]>(name, options, {
    unit: "",
    defaultText: "none",
    bounds: "host:port, comma-separated",
    parse: (value) =>
      value.split(",").map((item) => {
        const [, host = "", port = ""] = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(item.trim()) ?? [];
        if (host === "" || Number(port) < 1 || Number(port) > 65535)
          throw new BadValue(`must list servers such as redis-1.example.com:6379; not ${item.trim()}`);
        return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
      }),
    fallback: () => [],
  });
}

/** A comma-separated list of networks and addresses; empty when not set. */
export function networks(name: string, options: Common): Setting<readonly Network[]> {
  return setting<readonly Network[]>(name, options, {
    unit: "",
    defaultText: "none",
    bounds: "networks such as 10.0.0.0/8, comma-separated",
    parse: (value) =>
      value.split(",").map((item) => {
        const network = readNetwork(item.trim());
        if (network === null)
          throw new BadValue(`must list networks such as 10.0.0.0/8 or fd00::/8; not ${item.trim()}`);
        return network;
      }),
    fallback: () => [],
  });
}

/** Settings as an aligned table with a head. */
export function describeSettings(settings: readonly Setting<unknown>[]): string {
  const head = ["NAME", "DEFAULT", "UNIT", "BOUNDS", "MEANING"];
  const rows = settings.map(({ name, defaultText, unit, bounds, meaning }) => [
    name,
    defaultText || "–",
    unit,
    bounds,
    meaning,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
