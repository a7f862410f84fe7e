import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  classOf,
  inNetwork,
  readAddress,
  readNetwork,
  writeAddress,
} from "../../../../actors/policy/network/address.ts";

test.each([
  ["93.184.216.34", "public"],
  ["8.8.8.8", "public"],
  ["2606:4700:4700::1111", "public"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["::1", "loopback"],
  ["10.1.2.3", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["172.32.0.1", "public"],
  ["192.168.1.1", "private"],
  ["169.254.1.1", "link_local"],
  ["fe80::1", "link_local"],
  ["169.254.169.254", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["100.100.100.200", "metadata"],
  ["100.64.0.1", "carrier_grade_nat"],
  ["100.128.0.1", "public"],
  ["fd12::1", "unique_local"],
  ["fec0::1", "unique_local"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["ff02::1", "multicast"],
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["::", "unspecified"],
  ["192.0.2.1", "documentation"],
  ["198.51.100.7", "documentation"],
  ["203.0.113.9", "documentation"],
  ["2001:db8::1", "documentation"],
  ["198.18.0.1", "benchmark"],
  ["198.19.255.255", "benchmark"],
  ["2001:2::1", "benchmark"],
  ["192.0.0.1", "reserved"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["4000::1", "reserved"],
  ["100::1", "reserved"],
  // Carried in IPv6.
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:93.184.216.34", "public"],
  ["::127.0.0.1", "loopback"],
  ["::ffff:0:127.0.0.1", "loopback"],
  ["64:ff9b::10.0.0.1", "private"],
  ["64:ff9b::93.184.216.34", "public"],
  ["64:ff9b:1::5db8:d822", "reserved"],
  ["2002:7f00:1::", "loopback"],
  ["2002:a9fe:a9fe::", "metadata"],
  ["2002:5db8:d822::", "reserved"],
  ["2001:0:5db8:d822:0:0:f5ff:fffe", "private"],
  ["2001:0:a00:1:0:0:a247:27dd", "private"],
])("%s is %s", (text, kind) => {
  const address = readAddress(text);
  expect(address === null ? null : classOf(address)).toBe(kind as never);
});

test.each([
  "2130706433",
  "0177.0.0.1",
  "127.1",
  "127.0.1",
  "0x7f.0.0.1",
  "0x7f000001",
  "127.0.0.01",
  "127.0.0.256",
  " 127.0.0.1",
  "127.0.0.1\n",
  "127.0.0.1.",
  "fe80::1%eth0",
  "[::1]",
  ":::1",
  "1:2:3:4:5:6:7",
  "::ffff:0177.0.0.1",
  "",
])("%j is no address", (text) => {
  expect(readAddress(text)).toBeNull();
});

const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
const hex = (bytes: readonly number[], from: number) =>
  (((bytes[from] ?? 0) << 8) | (bytes[from + 1] ?? 0)).toString(16);

test("an address is read back as written", () => {
  fc.assert(
    fc.property(
      fc.oneof(octets, fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 })),
      (raw) => {
        const bytes =
          raw.length === 16 && raw.slice(0, 12).every((byte) => byte === 0) ? [...raw.slice(0, 15), 7] : raw;
        const read = readAddress(writeAddress({ bytes }));
        if (read?.bytes.length === bytes.length) expect(read.bytes).toEqual(bytes);
        else expect(read?.bytes).toEqual(bytes.slice(12));
      },
    ),
  );
});

test("no IPv4 address that is closed is open in an IPv6 dress", () => {
  fc.assert(
    fc.property(octets, (bytes) => {
      if (classOf({ bytes }) === "public") return;
      const [high, low] = [hex(bytes, 0), hex(bytes, 2)];
      const inverted = bytes.map((byte) => byte ^ 0xff);
      for (const text of [
        `::ffff:${bytes.join(".")}`,
        `::ffff:${high}:${low}`,
        `::${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::1`,
        `2001:0:${high}:${low}::1`,
        `2001:0:808:808:0:0:${hex(inverted, 0)}:${hex(inverted, 2)}`,
      ]) {
        const address = readAddress(text);
        expect(address).not.toBeNull();
        if (address !== null) expect(classOf(address)).not.toBe("public");
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["10.0.0.0/8", "10.255.0.1", true],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.1.2.3/8", "10.9.9.9", true],
  ["10.0.0.128/25", "10.0.0.127", false],
  ["10.0.0.128/25", "10.0.0.128", true],
  ["0.0.0.0/0", "8.8.8.8", true],
  ["0.0.0.0/0", "::1", false],
  ["::/0", "10.0.0.1", false],
  ["2001:db8::/33", "2001:db8:7fff::1", true],
  ["2001:db8::/33", "2001:db8:8000::1", false],
  ["::ffff:10.0.0.0/104", "10.1.1.1", true],
  ["10.0.0.1", "::ffff:10.0.0.1", true],
])("%s holds %s: %p", (network, address, held) => {
  const [read, within] = [readAddress(address), readNetwork(network)];
  if (read === null || within === null) throw new Error("unreadable");
  expect(inNetwork(read, within)).toBe(held);
});

test.each(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "::/129", "::ffff:10.0.0.0/95", "10.0.0/8", "/8", "10.0.0.0/-1"])(
  "%s is no network",
  (text) => {
    expect(readNetwork(text)).toBeNull();
  },
);
