/**
 * Hosts of URLs against allowlists: `x.org` covers itself and its subdomains, `*.x.org` its subdomains alone, an address
 * itself. Names are compared in ASCII form without regard to case, never by what they resolve to.
 */
import { type Host, readWrittenHost, writeHost } from "../network/host.ts";

/** The host of a URL; null: it is none, or its host can be read in two ways. */
export function hostOf(url: string): Host | null {
  const parsed = URL.parse(url);
  return parsed === null || parsed.hostname === "" ? null : hostNamed(parsed.hostname);
}

/** Why an entry of a domain allowlist names nothing; null: it is well-formed. */
export function domainEntryFault(entry: string): string | null {
  return entryOf(entry) === null ? "is not a domain, *.domain or an address" : null;
}

/** @param url of the call, or of a redirect */
export function domainAllowed(allowlist: readonly string[], url: string): boolean {
  const host = hostOf(url);
  return host !== null && allowlist.some((entry) => covers(entry, host));
}

function covers(text: string, host: Host): boolean {
  const entry = entryOf(text);
  if (entry === null) return false;
  const [wanted, given] = [writeHost(entry.host), writeHost(host)];
  if (entry.host.kind !== host.kind) return false;
  if (host.kind === "address") return wanted === given;
  return (!entry.below && wanted === given) || given.endsWith(`.${wanted}`);
}

function entryOf(text: string): { readonly host: Host; readonly below: boolean } | null {
  const below = text.startsWith("*.");
  const host = hostNamed(below ? text.slice(2) : text);
  return host === null || (below && host.kind === "address") ? null : { host, below };
}

/** One dot at the end names the same host. */
function hostNamed(text: string): Host | null {
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const bare = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name;
  return readWrittenHost(bare);
}
