/** The hosts that requests and lists name: a name or an address, each written in one way only. */
import { type Address, readAddress, writeAddress } from "./address.ts";

export type Host =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "address"; readonly address: Address };

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const nameForm = new RegExp(`^${label}(?:\\.${label})*$`);
/** A name that ends so is a number to URL parsers and resolvers: `127.1`, `0x7f000001`, `2130706433`. */
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/**
 * Reads the host of a request: ASCII, an IPv6 address in brackets.
 * @returns null for a text with a second meaning: a trailing dot, octal or short addresses, zones, escapes
 */
export function readHost(text: string): Host | null {
  if (text.length === 0 || text.length > 255) return null;
  if (text.startsWith("[")) {
    const address = text.endsWith("]") && text.includes(":") ? readAddress(text.slice(1, -1)) : null;
    return address === null ? null : { kind: "address", address };
  }
  const address = text.includes(":") ? null : readAddress(text);
  if (address !== null) return { kind: "address", address };
  const name = text.toLowerCase();
  return isName(name) ? { kind: "name", name } : null;
}

/** Like `readHost`, for text that people write: international names become their ASCII form (UTS 46). */
export function readWrittenHost(text: string): Host | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are ASCII
  if (/^[\x00-\x7f]*$/.test(text)) {
    const host = readHost(text);
    // A label that claims to be encoded has to decode.
    return host?.kind === "name" && host.name.includes("xn--") && asciiName(host.name) !== host.name ? null : host;
  }
  if (text.length > 255 || /[\s\p{Cc}\p{Cf}%/\\?#@:[\]<>^|]/u.test(text)) return null;
  const name = asciiName(text);
  return name !== null && isName(name) ? { kind: "name", name } : null;
}

/** The host as requests name it; IPv6 without brackets. */
export function writeHost(host: Host): string {
  return host.kind === "name" ? host.name : writeAddress(host.address);
}

/** Reads a port as digits without a leading zero. */
export function readPort(text: string): number | null {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

/** Splits `host:port`; the port is null when none is written, undefined when it is none. */
export function splitPort(text: string): { readonly host: string; readonly port: number | null | undefined } {
  const bracket = text.startsWith("[") ? text.indexOf("]") : -1;
  const colon = text.indexOf(":", bracket + 1);
  if (colon < 0) return { host: text, port: null };
  return { host: text.slice(0, colon), port: readPort(text.slice(colon + 1)) ?? undefined };
}

function isName(name: string): boolean {
  return name.length <= 253 && nameForm.test(name) && !numericEnd.test(name);
}

function asciiName(text: string): string | null {
  try {
    return new URL(`http://${text}`).hostname;
  } catch {
    return null;
  }
}
