/** Entries of `spec.security.network`'s lists. */
import { type Address, inNetwork, type Network, readNetwork } from "./address.ts";
import { type Host, readPort, readWrittenHost, splitPort } from "./host.ts";

/** What one entry names; `port` null where none is written. */
export type HostPattern = { readonly port: number | null } & (
  | { readonly kind: "name"; readonly name: string }
  /** Every name below this one, not itself. */
  | { readonly kind: "subdomains"; readonly name: string }
  | { readonly kind: "network"; readonly network: Network }
);

/**
 * Reads an entry: a host (exact), `*.host` (subdomains only), an address or a network (`10.0.0.0/8`), each with an
 * optional `:port`. IPv6 stands in brackets, `[2001:db8::1]:443` or `[2001:db8::]/32`; without a port it may go
 * without them. Names are case-insensitive and may be international; none ends in a dot.
 * @returns null for anything else: issue `invalid_host_pattern`
 */
export function parseHostPattern(text: string): HostPattern | null {
  if (text.length > 300) return null;
  const bare = readNetwork(text);
  if (bare !== null) return { kind: "network", network: bare, port: null };
  if (text.startsWith("[") || text.includes("/")) return networkWithPort(text);
  const { host: written, port } = splitPort(text);
  if (port === undefined) return null;
  const below = written.startsWith("*.");
  const host = readWrittenHost(below ? written.slice(2) : written);
  if (host === null) return null;
  if (host.kind === "name") return { kind: below ? "subdomains" : "name", name: host.name, port };
  const { bytes } = host.address;
  return below ? null : { kind: "network", network: { bytes, prefix: bytes.length * 8 }, port };
}

/** `[v6]`, `[v6]/32`, `[v6/32]`, `10.0.0.0/8`, each with or without a port. */
function networkWithPort(text: string): HostPattern | null {
  const parts = /^(?:\[([^\]]*:[^\]]*)\]((?:\/\d{1,3})?)|([\d.]+\/\d{1,2}))(?::(\d{1,5}))?$/.exec(text);
  if (parts === null) return null;
  const [, bracketed, length = "", dotted, digits] = parts;
  const network = readNetwork(dotted ?? `${bracketed}${length}`);
  const port = digits === undefined ? null : readPort(digits);
  if (network === null || (digits !== undefined && port === null)) return null;
  return { kind: "network", network, port };
}

/** Whether the entry names the host, its port aside. Names are never matched by what they resolve to. */
export function namesHost(pattern: HostPattern, host: Host): boolean {
  if (pattern.kind === "network") return host.kind === "address" && inNetwork(host.address, pattern.network);
  if (host.kind === "address") return false;
  return pattern.kind === "name" ? host.name === pattern.name : host.name.endsWith(`.${pattern.name}`);
}

export function namesAddress(pattern: HostPattern, address: Address): boolean {
  return pattern.kind === "network" && inNetwork(address, pattern.network);
}
