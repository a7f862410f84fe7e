/**
 * The address a request comes from (docs/reference/identity.md): the one function by which rates, the audit log, records
 * and logs name clients.
 *
 * It is the peer's, unless the peer is a proxy that `SVC_TRUSTED_PROXIES` lists: then it is the last address of
 * `Forwarded` (RFC 7239) or `X-Forwarded-For` that is none of these proxies'. What stands before it was written by the
 * client and is never read.
 */
import {
  type Address,
  inNetwork,
  type Network,
  readAddress,
  writeAddress,
} from "../../actors/policy/network/address.ts";
import { outsideQuotes } from "./preferences.ts";

/** Hops read of one header, from its end. */
const maxHops = 64;

/**
 * @param peer    the other end of the connection; null = unknown
 * @param trusted networks of the proxies that are believed
 * @returns the address in its one written form, an IPv4-mapped one as the IPv4 it means; null = unknown
 */
export function clientAddress(peer: string | null, headers: Headers, trusted: readonly Network[]): string | null {
  if (peer === null) return null;
  // Nearly always, and without reading it: the peer is the client, in the form that is shown.
  if (trusted.length === 0 && !peer.includes(":")) return peer;
  const connected = readAddress(peer);
  if (connected === null) return peer;
  const isTrusted = (address: Address) => trusted.some((network) => inNetwork(address, network));
  if (!isTrusted(connected)) return writeAddress(connected);
  const told = [forwardedHops(headers.get("forwarded")), listedHops(headers.get("x-forwarded-for"))].filter(
    (hops) => hops !== null,
  );
  const found = new Set(told.map((hops) => writeAddress(lastUntrusted(hops, connected, isTrusted))));
  // A proxy writes one of the two and may pass the other on as the client wrote it. Which one is not known here.
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : writeAddress(connected);
}

/** @param hops from the last to the first; null for one that is no address */
function lastUntrusted(
  hops: readonly (Address | null)[],
  connected: Address,
  isTrusted: (address: Address) => boolean,
): Address {
  let known = connected;
  for (const hop of hops) {
    // Hidden by the proxy before: as far as that one the way is known.
    if (hop === null) return known;
    known = hop;
    if (!isTrusted(hop)) return hop;
  }
  return known;
}

/** Null: there is no such header. */
function listedHops(header: string | null): readonly (Address | null)[] | null {
  return header === null ? null : header.split(",").slice(-maxHops).reverse().map(readHop);
}

/** Null: there is no such header, or it names no client at all. */
function forwardedHops(header: string | null): readonly (Address | null)[] | null {
  if (header === null) return null;
  const elements = outsideQuotes(header, ",").slice(-maxHops).reverse();
  const named = elements.map((element) =>
    outsideQuotes(element, ";")
      .map((pair) => /^\s*for\s*=(.*)$/is.exec(pair)?.[1])
      .find((value) => value !== undefined),
  );
  return named.every((value) => value === undefined) ? null : named.map((value) => readHop(value ?? ""));
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`, each also in quotes. */
function readHop(text: string): Address | null {
  const written = text.trim().replace(/^"(.*)"$/, "$1");
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(written)?.[1];
  if (bracketed !== undefined) return bracketed.includes(":") ? readAddress(bracketed) : null;
  return readAddress(/^([\d.]+):\d{1,5}$/.exec(written)?.[1] ?? written);
}
