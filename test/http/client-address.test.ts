/** Whose address a request counts for, behind proxies and without (docs/reference/identity.md). */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { type Network, readNetwork } from "../../actors/policy/network/address.ts";
import { clientAddress } from "../../src/http/client-address.ts";
import { definePublicRoute } from "../../src/http/route.ts";
import { openApp } from "./open-app.ts";

const networks = (...texts: string[]): readonly Network[] =>
  texts.map((text) => readNetwork(text)).filter((network) => network !== null);
const proxies = networks("10.0.0.0/8", "fd00::/8");
const of = (peer: string | null, headers: Record<string, string>, trusted = proxies) =>
  clientAddress(peer, new Headers(headers), trusted);

test.each([
  [
    "a peer that is no proxy is the client, for all its headers",
    "192.0.2.7",
    { "x-forwarded-for": "1.1.1.1" },
    "192.0.2.7",
  ],
  ["a mapped peer is the address it means", "::ffff:192.0.2.7", {}, "192.0.2.7"],
  ["a proxy that says nothing", "10.0.0.1", {}, "10.0.0.1"],
  ["a proxy names the client", "10.0.0.1", { "x-forwarded-for": "192.0.2.7" }, "192.0.2.7"],
  ["a mapped proxy is one too", "::ffff:10.0.0.1", { "x-forwarded-for": "192.0.2.7" }, "192.0.2.7"],
  ["what the client wrote itself does not count", "10.0.0.1", { "x-forwarded-for": "1.1.1.1, 192.0.2.7" }, "192.0.2.7"],
  ["proxies in a row", "10.0.0.1", { "x-forwarded-for": "1.1.1.1, 192.0.2.7, 10.9.9.9" }, "192.0.2.7"],
  ["proxies alone: the first of them", "10.0.0.1", { "x-forwarded-for": "10.3.3.3, 10.9.9.9" }, "10.3.3.3"],
  ["with a port", "10.0.0.1", { "x-forwarded-for": "192.0.2.7:4711" }, "192.0.2.7"],
  ["what is no address ends the way", "10.0.0.1", { "x-forwarded-for": "192.0.2.7, nonsense, 10.9.9.9" }, "10.9.9.9"],
  ["Forwarded", "fd00::1", { forwarded: 'for="[2001:DB8::0:1]:4711";proto=https' }, "2001:db8::1"],
  ["Forwarded in a row", "10.0.0.1", { forwarded: "for=1.1.1.1, proto=http;For=192.0.2.7, for=10.1.1.1" }, "192.0.2.7"],
  ["Forwarded with a comma in quotes", "10.0.0.1", { forwarded: 'host="a,for=1.1.1.1";for=192.0.2.7' }, "192.0.2.7"],
  ["Forwarded by a hidden one", "10.0.0.1", { forwarded: "for=1.1.1.1, for=_hidden" }, "10.0.0.1"],
  ["both, and they agree", "10.0.0.1", { forwarded: "for=192.0.2.7", "x-forwarded-for": "192.0.2.7" }, "192.0.2.7"],
  [
    "both, and one is the client's own",
    "10.0.0.1",
    { forwarded: "for=1.1.1.1", "x-forwarded-for": "192.0.2.7" },
    "10.0.0.1",
  ],
])("%s", (_, peer, headers, expected) => {
  expect(of(peer, headers)).toBe(expected);
});

test("no header of a client makes it another one, nor throws", () => {
  const text = fc.oneof(
    fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
    fc
      .array(fc.constantFrom("for=", '"', "[", "]", ",", ";", "1.2.3.4", "10.0.0.1", "::1", "\\", " "))
      .map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, text, (forwarded, listed) => {
      const headers = new Headers({ forwarded, "x-forwarded-for": `${listed}, 192.0.2.7` });
      expect(clientAddress("198.51.100.1", headers, proxies)).toBe("198.51.100.1");
      expect(["192.0.2.7", "10.0.0.1"]).toContain(clientAddress("10.0.0.1", headers, proxies) ?? "");
    }),
  );
});

test("a call's address is the client's behind trusted proxies alone", async () => {
  const route = definePublicRoute({
    method: "GET",
    path: "/who",
    summary: "Who calls",
    responses: { 200: Type.Object({ address: Type.Union([Type.String(), Type.Null()]) }) },
    handler: ({ address }) => ({ address }),
  });
  const ask = async (trustedProxies: readonly Network[]) => {
    const app = openApp({ routes: [route], trustedProxies });
    const answer = await fetch(`${app.url}/who`, { headers: { "x-forwarded-for": "203.0.113.9" } });
    await app.stop();
    return ((await answer.json()) as { address: string }).address;
  };
  expect(await ask([])).toBe("127.0.0.1");
  expect(await ask(networks("127.0.0.0/8"))).toBe("203.0.113.9");
});
