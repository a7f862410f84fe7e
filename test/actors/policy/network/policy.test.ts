import { expect, test } from "bun:test";
import fc from "fast-check";
import { readAddress } from "../../../../actors/policy/network/address.ts";
import { type HostPattern, parseHostPattern } from "../../../../actors/policy/network/pattern.ts";
import {
  addressRefusal,
  decide,
  listedByUrl,
  type NetworkRules,
  policyOf,
  publicCallRefusal,
} from "../../../../actors/policy/network/policy.ts";

const rules = (mode: NetworkRules["mode"], allowlist: string[] = [], denylist: string[] = []): NetworkRules => ({
  mode,
  allowlist,
  denylist,
});

function verdict(network: NetworkRules | null, host: string, port: number): string {
  const decision = decide(policyOf(network), host, port);
  if (!decision.allowed) return decision.reason;
  return decision.anyProtocol ? "any protocol" : "allowed";
}

test.each([
  ["example.com", "name example.com"],
  ["EXAMPLE.Com", "name example.com"],
  ["example.com:8443", "name example.com 8443"],
  ["*.example.com", "subdomains example.com"],
  ["*.Example.com:8080", "subdomains example.com 8080"],
  ["bücher.example", "name xn--bcher-kva.example"],
  ["*.bücher.example:81", "subdomains xn--bcher-kva.example 81"],
  ["раypal.com", "name xn--ypal-43d9g.com"],
  ["localhost", "name localhost"],
  ["my_service", "name my_service"],
  ["10.0.0.1", "network 10.0.0.1/32"],
  ["10.0.0.1:5432", "network 10.0.0.1/32 5432"],
  ["10.0.0.0/8", "network 10.0.0.0/8"],
  ["10.0.0.0/8:5432", "network 10.0.0.0/8 5432"],
  ["::1", "network 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1/128"],
  ["[::1]:80", "network 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1/128 80"],
  ["[::ffff:10.0.0.1]", "network 10.0.0.1/32"],
  ["[2001:db8::/32]:443", "network 32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.0/32 443"],
  ["[2001:db8::]/32", "network 32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.0/32"],
])("entry %s is %s", (text, meaning) => {
  const read = parseHostPattern(text);
  const name = read?.kind === "network" ? `${read.network.bytes.join(".")}/${read.network.prefix}` : read?.name;
  expect(`${read?.kind} ${name}${read?.port == null ? "" : ` ${read.port}`}`).toBe(meaning);
});

test.each([
  "",
  "*",
  "*.",
  ".example.com",
  "example.com.",
  "*.*.com",
  "a.*.com",
  "exa mple.com",
  "example.com:0",
  "example.com:080",
  "example.com:65536",
  "example.com:",
  "example.com:80:80",
  "https://example.com",
  "example.com/path",
  "user@example.com",
  "-a.com",
  "a-.com",
  "a..b",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(130)}com`,
  "*.10.0.0.1",
  "127.1",
  "0x7f.0.0.1",
  "2130706433",
  "0177.0.0.1",
  "10.0.0.0/33",
  "10.0.0.0/8:0",
  "[10.0.0.1]",
  "[::1",
  "::1]:80",
  "[::1]80",
  "fe80::1%eth0",
  "xn--a.com",
  "bü%63her.example",
  "a\u0000.com",
  "ex\u00adample.com",
  "example.com\r\nHost: x",
])("%j is no entry", (text) => {
  expect(parseHostPattern(text)).toBeNull();
});

test.each([
  [null, "example.com", 443, "no_network"],
  [rules("none"), "example.com", 443, "no_network"],
  [rules("none", ["example.com"]), "example.com", 443, "no_network"],
  [rules("deny"), "example.com", 443, "not_allowlisted"],
  [rules("deny", ["example.com"]), "example.com", 443, "allowed"],
  [rules("deny", ["example.com"]), "EXAMPLE.com", 80, "allowed"],
  [rules("deny", ["example.com"]), "www.example.com", 443, "not_allowlisted"],
  [rules("deny", ["example.com"]), "notexample.com", 443, "not_allowlisted"],
  [rules("deny", ["example.com"]), "example.com.evil.net", 443, "not_allowlisted"],
  [rules("deny", ["example.com"]), "example.com", 8080, "port_not_allowed"],
  [rules("deny", ["example.com:8080"]), "example.com", 8080, "any protocol"],
  [rules("deny", ["example.com:8080"]), "example.com", 443, "port_not_allowed"],
  [rules("deny", ["*.example.com"]), "example.com", 443, "not_allowlisted"],
  [rules("deny", ["*.example.com"]), "a.b.example.com", 443, "allowed"],
  [rules("allow", ["example.com"]), "other.com", 443, "not_allowlisted"],
  [rules("allow"), "other.com", 443, "allowed"],
  [rules("allow"), "other.com", 22, "port_not_allowed"],
  [rules("allow"), "8.8.8.8", 443, "address_not_listed"],
  [rules("allow", ["8.8.8.0/24"]), "8.8.8.8", 443, "allowed"],
  [rules("allow", ["8.8.8.8:53"]), "8.8.8.8", 53, "any protocol"],
  [rules("allow", [], ["evil.com"]), "evil.com", 443, "denylisted"],
  [rules("allow", [], ["evil.com"]), "www.evil.com", 443, "allowed"],
  [rules("allow", [], ["*.evil.com"]), "www.evil.com", 443, "denylisted"],
  [rules("allow", [], ["evil.com:443"]), "evil.com", 80, "allowed"],
  [rules("deny", ["*.a.com", "*.a.com:9000"], ["b.a.com"]), "b.a.com", 9000, "denylisted"],
  [rules("deny", ["10.0.0.0/8"], ["10.1.0.0/16"]), "10.1.0.1", 80, "denylisted"],
  [rules("deny", ["[::1]"]), "[::1]", 80, "allowed"],
  [rules("deny", ["127.0.0.1"]), "[::ffff:7f00:1]", 80, "allowed"],
  // Only what one side reads, and the other side would read otherwise.
  [rules("allow"), "example.com.", 443, "invalid_host"],
  [rules("allow"), "127.1", 80, "invalid_host"],
  [rules("allow"), "2130706433", 80, "invalid_host"],
  [rules("allow"), "0x7f000001", 80, "invalid_host"],
  [rules("allow"), "0177.0.0.1", 80, "invalid_host"],
  [rules("allow"), "::1", 80, "invalid_host"],
  [rules("allow"), "[fe80::1%25eth0]", 80, "invalid_host"],
  [rules("allow"), "bücher.example", 443, "invalid_host"],
  [rules("allow"), "exa%6dple.com", 443, "invalid_host"],
  [rules("allow"), "a b", 443, "invalid_host"],
  [rules("allow"), "", 443, "invalid_host"],
  [rules("deny", ["paypal.com"]), "xn--ypal-43d9g.com", 443, "not_allowlisted"],
  // What could not be read closes.
  [rules("allow", ["not a host"]), "example.com", 443, "not_allowlisted"],
  [rules("allow", [], ["not a host"]), "example.com", 443, "no_network"],
] as const)("%j: %s:%d is %s", (network, host, port, expected) => {
  expect(verdict(network as NetworkRules | null, host, port)).toBe(expected);
});

const node = (...entries: string[]): HostPattern[] =>
  entries.map(parseHostPattern).filter((pattern) => pattern !== null);

test.each([
  ["93.184.216.34", 443, [], [], [], null],
  ["127.0.0.1", 80, [], [], [], "loopback_address"],
  ["127.0.0.1", 80, ["127.0.0.1"], [], [], "loopback_address"],
  ["127.0.0.1", 80, [], ["127.0.0.1"], [], "loopback_address"],
  ["127.0.0.1", 80, ["127.0.0.1"], ["127.0.0.0/8"], [], null],
  ["127.0.0.1", 8000, ["127.0.0.1"], ["127.0.0.0/8"], [], "loopback_address"],
  ["127.0.0.1", 8000, ["127.0.0.1:8000"], ["127.0.0.0/8"], [], null],
  ["127.0.0.1", 8000, ["127.0.0.1:8000"], ["127.0.0.1:9000"], [], "loopback_address"],
  ["127.0.0.1", 8000, ["localhost:8000"], ["127.0.0.1"], [], "loopback_address"],
  ["169.254.169.254", 80, ["169.254.169.254"], [], [], "metadata_address"],
  ["127.0.0.1", 80, ["127.0.0.1"], ["127.0.0.1"], ["127.0.0.0/8"], "denylisted"],
  ["93.184.216.34", 443, [], [], ["93.184.0.0/16"], "denylisted"],
] as const)("%s:%d, listed %j, by the node %j, denied %j: %p", (text, port, allowlist, allowed, denylist, reason) => {
  const address = readAddress(text);
  if (address === null) throw new Error("unreadable");
  const policy = policyOf(rules("allow", [...allowlist], [...denylist]));
  expect(addressRefusal(address, port, policy, node(...allowed))).toBe(reason);
});

test("a call of the service to a public address is not the policy's to refuse", () => {
  const address = readAddress("93.184.216.34");
  if (address === null) throw new Error("unreadable");
  for (const network of [null, rules("none"), rules("allow", ["api.test"], ["93.184.0.0/16"])]) {
    expect(publicCallRefusal(address, 8443, policyOf(network), [])).toBeNull();
  }
});

test.each([
  ["http://127.0.0.1:9000/hook", ["127.0.0.1:9000"]],
  ["http://127.0.0.1:9000/{{run}}?a={{b}}", ["127.0.0.1:9000"]],
  ["https://10.1.2.3", ["10.1.2.3:443"]],
  ["http://127.1/", ["127.0.0.1:80"]],
  ["http://[fd00::7]:81/x", ["[fd00::7]:81"]],
  ["http://hooks.test/", []],
  ["http://{{host}}/", []],
  ["{{url}}", []],
  ["http://127.0.0.1{{rest}}", []],
  ["http://127.0.0.1:{{port}}/", []],
  ["http://127.0.0.1:9000{{rest}}", []],
  ["http://user@127.0.0.1/", []],
  ["http://127.0.0.1\\@10.0.0.1/", []],
  ["ftp://127.0.0.1/", []],
])("a workflow's URL %s lists %j", (url, expected) => {
  expect(listedByUrl(url)).toEqual({ mode: "deny", allowlist: expected, denylist: [] });
});

/** Labels with two hyphens after their second character are kept for encoded names (RFC 5891, 4.2.3.1): few are valid. */
const labels = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/).filter((label) => label.slice(2, 4) !== "--");
const names = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));

test("a name that cannot be decoded is no entry; listed, it opens nothing", () => {
  expect(parseHostPattern("xn--0.a")).toBeNull();
  expect(verdict(rules("deny", ["xn--0.a"]), "xn--0.a", 443)).toBe("not_allowlisted");
  expect(verdict(rules("allow", [], ["xn--0.a"]), "example.com", 443)).toBe("no_network");
});

test("a denied host stays denied beside any other entry", () => {
  fc.assert(
    fc.property(names, fc.array(names, { maxLength: 4 }), fc.integer({ min: 1, max: 65535 }), (name, others, port) => {
      const allow = [...others, name, `${name}:${port}`];
      expect(verdict(rules("allow", allow, [name]), name, port)).toBe("denylisted");
      expect(verdict(rules("deny", allow), name, port)).toBe("any protocol");
    }),
  );
});

test("only a listed name or one below a listed star is let through", () => {
  fc.assert(
    fc.property(names, names, fc.boolean(), (listed, asked, star) => {
      const fits = star ? asked.endsWith(`.${listed}`) : asked === listed;
      const entry = star ? `*.${listed}` : listed;
      expect(verdict(rules("deny", [entry]), asked, 443)).toBe(fits ? "allowed" : "not_allowlisted");
    }),
  );
});

test("no text makes reading or deciding fail", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.stringMatching(/^[\d.:[\]/*a-fx%-]{0,30}$/));
  fc.assert(
    fc.property(text, text, (entry, host) => {
      parseHostPattern(entry);
      expect(typeof verdict(rules("deny", [entry]), host, 443)).toBe("string");
    }),
    { numRuns: 1000 },
  );
});
