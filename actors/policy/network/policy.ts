/**
 * Where an agent may connect to (`spec.security.network`):
 *
 *   mode                    lists                effect
 *   none, or no section     any                  nowhere
 *   deny                    allowlist            only what it names
 *   allow                   allowlist non-empty  only what it names
 *   allow                   allowlist empty      any public host by its name, ports 80 and 443
 *
 * The denylist always subtracts, an entry without a port on every port.
 */
import { type Address, type AddressClass, classOf } from "./address.ts";
import { type Host, readHost } from "./host.ts";
import { type HostPattern, namesAddress, namesHost, parseHostPattern } from "./pattern.ts";

/** The section as a manifest holds it. */
export interface NetworkRules {
  readonly mode: "none" | "deny" | "allow";
  readonly allowlist: readonly string[];
  readonly denylist: readonly string[];
}

/** A section made ready for deciding. */
export interface NetworkPolicy {
  /** `listed`: what `allowed` names and no more. */
  readonly reach: "nothing" | "listed" | "public";
  readonly allowed: readonly HostPattern[];
  readonly denied: readonly HostPattern[];
  /** Addresses off the open internet that another list holds which binds as well, on every port that it may be called at. */
  readonly addresses?: readonly HostPattern[];
}

/** Why a connection is refused; the `reason` of `egress_blocked`. */
export type Refusal =
  | "no_network"
  | "invalid_host"
  | "denylisted"
  | "not_allowlisted"
  | "port_not_allowed"
  | "address_not_listed"
  | `${Exclude<AddressClass, "public">}_address`;

export type EgressDecision =
  /** `anyProtocol`: the port is written in the list, so that more than HTTP and TLS may be spoken. */
  | { readonly allowed: true; readonly host: Host; readonly anyProtocol: boolean }
  | { readonly allowed: false; readonly reason: Refusal };

const usualPorts: readonly number[] = [80, 443];

/** Reads a section once for many decisions. An unreadable entry allows nothing; in the denylist it closes everything. */
export function policyOf(rules: NetworkRules | null): NetworkPolicy {
  const allowed = read(rules?.allowlist ?? []);
  const denied = read(rules?.denylist ?? []);
  if (rules === null || rules.mode === "none" || denied.includes(null)) {
    return { reach: "nothing", allowed: [], denied: [] };
  }
  const open = rules.mode === "allow" && rules.allowlist.length === 0;
  return { reach: open ? "public" : "listed", allowed: allowed.filter(isRead), denied: denied.filter(isRead) };
}

/**
 * Whether a connection may be tried. Where the host is a name, `addressRefusal` decides about each of its addresses.
 * @param host as the request names it: ASCII, IPv6 in brackets
 */
export function decide(policy: NetworkPolicy, host: string, port: number): EgressDecision {
  if (policy.reach === "nothing") return { allowed: false, reason: "no_network" };
  const target = readHost(host);
  if (target === null) return { allowed: false, reason: "invalid_host" };
  if (policy.denied.some((pattern) => subtracts(pattern, port) && namesHost(pattern, target))) {
    return { allowed: false, reason: "denylisted" };
  }
  const naming = policy.allowed.filter((pattern) => namesHost(pattern, target));
  if (policy.reach === "listed" || naming.length > 0) {
    if (naming.length === 0) return { allowed: false, reason: "not_allowlisted" };
    if (!naming.some((pattern) => opens(pattern, port))) return { allowed: false, reason: "port_not_allowed" };
    return { allowed: true, host: target, anyProtocol: naming.some((pattern) => pattern.port === port) };
  }
  // A bare address would be a way around every name of the denylist.
  if (target.kind === "address") return { allowed: false, reason: "address_not_listed" };
  if (!usualPorts.includes(port)) return { allowed: false, reason: "port_not_allowed" };
  return { allowed: true, host: target, anyProtocol: false };
}

/**
 * Why a connection must not go to an address, or null. An address that is not public has to be listed by address
 * both by the manifest and by the node.
 * @param nodeAllowPrivate the node's `egress.allow_private`
 */
export function addressRefusal(
  address: Address,
  port: number,
  policy: NetworkPolicy,
  nodeAllowPrivate: readonly HostPattern[],
): Refusal | null {
  if (policy.denied.some((pattern) => subtracts(pattern, port) && namesAddress(pattern, address))) return "denylisted";
  const kind = classOf(address);
  if (kind === "public") return null;
  const listed =
    (policy.allowed.some((pattern) => opens(pattern, port) && namesAddress(pattern, address)) ||
      (policy.addresses ?? []).some((pattern) => subtracts(pattern, port) && namesAddress(pattern, address))) &&
    nodeAllowPrivate.some((pattern) => subtracts(pattern, port) && namesAddress(pattern, address));
  return listed ? null : `${kind}_address`;
}

/**
 * The same for what the service itself calls because a manifest says so (output handlers, deliveries, notifications):
 * any public address may be called, another one only as an agent with the same policy could.
 */
export function publicCallRefusal(
  address: Address,
  port: number,
  policy: NetworkPolicy,
  nodeAllowPrivate: readonly HostPattern[],
): Refusal | null {
  return classOf(address) === "public" ? null : addressRefusal(address, port, policy, nodeAllowPrivate);
}

/**
 * The same for what the service calls because an agent asks it to: what the lists of its manifest hold binds, the mode
 * alone does not, since it is about the agent's own connections. With an empty allowlist any public host may be called.
 */
export function listsOf(rules: NetworkRules | null): NetworkPolicy {
  return policyOf({ mode: "allow", allowlist: rules?.allowlist ?? [], denylist: rules?.denylist ?? [] });
}

/** Whether such a call may be tried; `addressRefusal` decides about each address. @param policy of `listsOf` */
export function listsRefusal(policy: NetworkPolicy, host: string, port: number): Refusal | null {
  if (policy.reach === "nothing") return "no_network";
  const target = readHost(host);
  if (target === null) return "invalid_host";
  if (policy.denied.some((pattern) => subtracts(pattern, port) && namesHost(pattern, target))) return "denylisted";
  if (policy.reach === "public") return null;
  const naming = policy.allowed.filter((pattern) => namesHost(pattern, target));
  if (naming.length === 0) return "not_allowlisted";
  return naming.some((pattern) => opens(pattern, port)) ? null : "port_not_allowed";
}

/**
 * What a URL lists that a manifest without a network policy writes: the address that its text names, on its port.
 * A URL whose host is a name, or comes out of a template, lists nothing.
 */
export function listedByUrl(written: string): NetworkRules {
  const origin = /^https?:\/\/[^\s/?#\\{}@]+(?=[/?#]|$)/i.exec(written)?.[0];
  const url = origin === undefined ? null : URL.parse(origin);
  const names = url !== null && readHost(url.hostname)?.kind === "address";
  const port = url?.port || (url?.protocol === "https:" ? "443" : "80");
  return { mode: "deny", allowlist: names ? [`${url.hostname}:${port}`] : [], denylist: [] };
}

/** Whether an entry of an allowlist opens the port. */
const opens = (pattern: HostPattern, port: number): boolean =>
  pattern.port === null ? usualPorts.includes(port) : pattern.port === port;

/** Whether an entry that takes every port where it names none is about this one. */
const subtracts = (pattern: HostPattern, port: number): boolean => pattern.port === null || pattern.port === port;

const read = (entries: readonly string[]): readonly (HostPattern | null)[] => entries.map(parseHostPattern);
const isRead = (pattern: HostPattern | null): pattern is HostPattern => pattern !== null;
