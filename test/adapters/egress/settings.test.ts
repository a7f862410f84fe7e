import { expect, test } from "bun:test";
import { readEgress } from "../../../src/adapters/egress/settings.ts";

test("addresses and networks, with or without a port", () => {
  const { settings, problems } = readEgress(["10.0.0.0/8", "127.0.0.1:8080", "[::1]"], {
    allow_private: [],
    open: true,
  });
  expect(problems).toEqual([]);
  expect(settings.allowPrivate.map(({ kind, port }) => `${kind} ${port}`)).toEqual([
    "network null",
    "network 8080",
    "network null",
  ]);
  expect(readEgress(null, undefined)).toEqual({ settings: { allowPrivate: [] }, problems: [] });
});

test("everything that is wrong is told", () => {
  expect(readEgress(["intranet.example", 7, "10.0.0.0/99"], { alow_private: [] }).problems).toEqual([
    "egress.alow_private is not known; known: allow_private, open",
    'egress.allow_private: "intranet.example" is no address and no network',
    "egress.allow_private: 7 is no address and no network",
    'egress.allow_private: "10.0.0.0/99" is no address and no network',
  ]);
});
