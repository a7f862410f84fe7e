/** IP addresses: how they are written, which networks hold them, and which of them are on the open internet. */
import ipaddr from "ipaddr.js";

/** The bytes of an address, 4 or 16 in network order. An IPv4-mapped IPv6 address is held as the IPv4 one it means. */
export interface Address {
  readonly bytes: readonly number[];
}

/** All addresses whose first `prefix` bits are those of `bytes`. */
export interface Network {
  readonly bytes: readonly number[];
  readonly prefix: number;
}

/** Whom an address belongs to; all but `public` are closed to agents unless opened by address. */
export type AddressClass =
  | "public"
  | "loopback"
  | "private"
  | "link_local"
  | "metadata"
  | "carrier_grade_nat"
  | "unique_local"
  | "multicast"
  | "unspecified"
  | "documentation"
  | "benchmark"
  | "reserved";

/** Reads `10.0.0.1` or `2001:db8::1`; null for every other way to write an address: octal, short, decimal, zoned. */
export function readAddress(text: string): Address | null {
  if (text.length > 45) return null;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return { bytes: ipaddr.IPv4.parse(text).toByteArray() };
  if (!text.includes(":") || text.includes("%") || !ipaddr.IPv6.isValid(text)) return null;
  if (text.includes(".") && !ipaddr.IPv4.isValidFourPartDecimal(text.slice(text.lastIndexOf(":") + 1))) return null;
  return unmapped(ipaddr.IPv6.parse(text).toByteArray());
}

/** Reads `10.0.0.0/8` or `2001:db8::/32`; an address alone is the network of that one. */
export function readNetwork(text: string): Network | null {
  const slash = text.indexOf("/");
  const written = slash < 0 ? text : text.slice(0, slash);
  const address = readAddress(written);
  if (address === null) return null;
  const bits = address.bytes.length * 8;
  if (slash < 0) return { bytes: address.bytes, prefix: bits };
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return null;
  // A mapped network is written in the 128 bits of IPv6, of which the first 96 say no more than that.
  const skipped = bits === 32 && written.includes(":") ? 96 : 0;
  const prefix = Number(digits) - skipped;
  return prefix >= 0 && prefix <= bits ? { bytes: address.bytes, prefix } : null;
}

/** The one way an address is shown: dotted, or IPv6 in lower case with its longest run of zeros left out. */
export function writeAddress({ bytes }: Address): string {
  return ipaddr.fromByteArray([...bytes]).toString();
}

export function inNetwork({ bytes }: Address, network: Network): boolean {
  if (bytes.length !== network.bytes.length) return false;
  const whole = network.prefix >> 3;
  for (let at = 0; at < whole; at++) if (bytes[at] !== network.bytes[at]) return false;
  const rest = network.prefix & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((bytes[whole] ?? 0) & mask) === ((network.bytes[whole] ?? 0) & mask);
}

function unmapped(bytes: readonly number[]): Address {
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return { bytes: mapped ? bytes.slice(12) : bytes };
}

/** From the IANA registries of special-purpose addresses (RFC 6890 and its successors); the first match counts. */
const classes: readonly (readonly [AddressClass, readonly string[]])[] = [
  // The addresses under which clouds hand out credentials to any program inside.
  ["metadata", ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"]],
  ["loopback", ["127.0.0.0/8", "::1"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]],
  ["link_local", ["169.254.0.0/16", "fe80::/10"]],
  ["carrier_grade_nat", ["100.64.0.0/10"]],
  // fec0::/10 is the retired site-local space.
  ["unique_local", ["fc00::/7", "fec0::/10"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  ["unspecified", ["0.0.0.0/8", "::"]],
  ["documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"]],
  ["benchmark", ["198.18.0.0/15", "2001:2::/48"]],
  ["reserved", ["192.0.0.0/24", "192.88.99.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"]],
  ["reserved", ["240.0.0.0/4"]],
];

const table = classes.flatMap(([name, networks]) => networks.map((text) => [name, networkOf(text)] as const));
/** Of IPv6 only this has been given out for use on the internet, and of it these are not. */
const globalUnicast = networkOf("2000::/3");
const protocolAssignments = networkOf("2001::/23");

/** Where an IPv6 address carries an IPv4 one that traffic to it may end at. */
interface Carrier {
  readonly network: Network;
  /** First byte of the IPv4 address. */
  readonly at: number;
  readonly inverted?: true;
  /** Resolvers of networks without IPv4 answer with such addresses. */
  readonly usual?: true;
}
const carriers: readonly Carrier[] = [
  { network: networkOf("::/96"), at: 12 },
  // RFC 2765 translation.
  { network: networkOf("::ffff:0:0:0/96"), at: 12 },
  // NAT64: RFC 6052, and RFC 8215 for local use.
  { network: networkOf("64:ff9b::/96"), at: 12, usual: true },
  { network: networkOf("64:ff9b:1::/48"), at: 12 },
  // 6to4.
  { network: networkOf("2002::/16"), at: 2 },
  // Teredo: the server, and the client behind its inverted address.
  { network: networkOf("2001::/32"), at: 4 },
  { network: networkOf("2001::/32"), at: 12, inverted: true },
];

function networkOf(text: string): Network {
  const network = readNetwork(text);
  if (network === null) throw new Error(`no network: ${text}`);
  return network;
}

/** What kind of address it is. An IPv6 address that carries an IPv4 one is of the latter's class. */
export function classOf(address: Address): AddressClass {
  const listed = table.find(([, network]) => inNetwork(address, network));
  if (listed !== undefined) return listed[0];
  if (address.bytes.length === 4) return "public";
  const carried = carriers.filter(({ network }) => inNetwork(address, network));
  if (carried.length > 0) {
    const inner = carried.map(({ at, inverted }) => ({
      bytes: address.bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte)),
    }));
    const closed = inner.map(classOf).find((found) => found !== "public");
    return closed ?? (carried.some(({ usual }) => usual) ? "public" : "reserved");
  }
  const global = inNetwork(address, globalUnicast) && !inNetwork(address, protocolAssignments);
  return global ? "public" : "reserved";
}
