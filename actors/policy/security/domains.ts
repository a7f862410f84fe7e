/**
 * Hosts of URLs against allowlists: `x.org` covers itself and its subdomains, `*.x.org` its subdomains alone, an address
 * itself. Names are compared in ASCII form without regard to case, never by what they resolve to.
 */
import { type Host, readWrittenHost, writeHost } from "../network/host.ts";

/** The host of a URL; null: it is none, or its host can be read in two ways. */
function hostOf(url: string): Host | null {
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
  if (host === null) return false;
  const { addresses, names, below } = entriesOf(allowlist);
  const given = writeHost(host);
  if (host.kind === "address") return addresses.has(given);
  if (names.has(given)) return true;
  for (let dot = given.indexOf("."); dot >= 0; dot = given.indexOf(".", dot + 1)) {
    const parent = given.slice(dot + 1);
    if (names.has(parent) || below.has(parent)) return true;
  }
  return false;
}

interface Entries {
  readonly addresses: ReadonlySet<string>;
  /** With their subdomains. */
  readonly names: ReadonlySet<string>;
  /** Whose subdomains alone are meant. */
  readonly below: ReadonlySet<string>;
}

/** Made ready once for as long as the list is the same object. */
const known = new WeakMap<readonly string[], Entries>();

function entriesOf(allowlist: readonly string[]): Entries {
  const earlier = known.get(allowlist);
  if (earlier !== undefined) return earlier;
  const [addresses, names, below] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const text of allowlist) {
    const entry = entryOf(text);
    if (entry === null) continue;
    const set = entry.host.kind === "address" ? addresses : entry.below ? below : names;
    set.add(writeHost(entry.host));
  }
  const entries = { addresses, names, below };
  known.set(allowlist, entries);
  return entries;
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
