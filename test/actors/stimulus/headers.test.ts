/** Which headers a workflow sees (docs/reference/stimuli.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { forwardedHeaders } from "../../../actors/stimulus/headers.ts";

const all = ["*"];
const kept = (received: Record<string, string>, wanted: readonly string[] = all): string[] =>
  Object.keys(forwardedHeaders(Object.entries(received), wanted).headers);

test("names in lower case, repeats joined, in the order they came", () => {
  const received: [string, string][] = [
    ["X-GitHub-Event", "push"],
    ["X-A", "1"],
    ["x-b", ""],
    ["x-a", "2"],
  ];
  expect(forwardedHeaders(received, all)).toEqual({
    headers: { "x-github-event": "push", "x-a": "1, 2", "x-b": "" },
    truncated: false,
  });
  expect(forwardedHeaders(new Headers(received), all).headers["x-a"]).toBe("1, 2");
});

test.each([
  "Authorization Proxy-Authorization X-Amz-Authorization-2 Cookie Set-Cookie Cookie2",
  "X-Auth-Token X-Gitlab-Token X-CSRFToken X-Secret Client-Secret-Id X-Password X-Api-Key API-KEY",
  "X-Hub-Signature X-Hub-Signature-256 Stripe-Signature X-Svc-Signature Webhook-Signature signature",
  "X-Tenant-Id X-Svc-Tenant",
  "Connection Keep-Alive Proxy-Authenticate Proxy-Connection TE Trailer Transfer-Encoding Upgrade",
])("%s: withheld, even where they are asked for", (written) => {
  const names = written.split(" ");
  const received = Object.fromEntries([...names, "X-Kept"].map((name) => [name, "v"]));
  expect(kept(received)).toEqual(["x-kept"]);
  expect(
    kept(
      received,
      names.map((name) => name.toLowerCase()),
    ),
  ).toEqual([]);
});

test("so is what the sender names as of the connection, wherever it does so", () => {
  expect(kept({ "X-Hop": "1", "X-End": "2", Connection: "close,  X-HOP ,other" })).toEqual(["x-end"]);
});

test("values that are not ASCII are left out whole", () => {
  const received: [string, string][] = [
    ["a", "é"],
    ["b", "ok"],
    ["c", "ok"],
    ["c", "ÿ"],
    ["d", "a\0b"],
    ["e", "tab\tkept"],
  ];
  expect(forwardedHeaders(received, all)).toEqual({ headers: { b: "ok", e: "tab\tkept" }, truncated: false });
});

test("a route may want a few only", () => {
  const received = { "X-GitHub-Event": "push", "X-GitHub-Delivery": "1", Accept: "*/*" };
  expect(kept(received, ["x-github-event", "x-none"])).toEqual(["x-github-event"]);
  expect(kept(received, ["x-none", "*"])).toHaveLength(3);
  expect(kept(received, [])).toEqual([]);
});

test("a name that objects know already is a header like any other", () => {
  const { headers } = forwardedHeaders(
    [
      ["__proto__", "x"],
      ["constructor", "y"],
    ],
    all,
  );
  expect(Object.entries(headers)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
});

describe("no more than 64 headers and 16 KiB", () => {
  const many = (count: number, value: string) =>
    Array.from({ length: count }, (_, index): [string, string] => [`h${String(index).padStart(3, "0")}`, value]);

  test.each([
    [many(64, "v"), 64, false],
    [many(65, "v"), 64, true],
    // 4 characters of name and 1,020 of value: 1 KiB.
    [many(16, "v".repeat(1020)), 16, false],
    [many(17, "v".repeat(1020)), 16, true],
    [
      [
        ["big", "v".repeat(16_384)],
        ["small", "v"],
      ] as [string, string][],
      0,
      true,
    ],
    // What is withheld takes no room.
    [[["cookie", "v".repeat(20_000)], ...many(64, "v")] as [string, string][], 64, false],
  ])("set %#", (received, count, truncated) => {
    const forwarded = forwardedHeaders(received, all);
    expect([Object.keys(forwarded.headers).length, forwarded.truncated]).toEqual([count, truncated]);
  });
});

test("any headers in, only allowed headers out", () => {
  const name = fc.stringMatching(/^[A-Za-z_-]{1,12}$/);
  const value = fc.string({
    unit: fc.integer({ min: 1, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 600,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 90 }), (received) => {
      const { headers } = forwardedHeaders(received, all);
      const entries = Object.entries(headers);
      expect(entries.length).toBeLessThanOrEqual(64);
      expect(entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)).toBeLessThanOrEqual(16_384);
      for (const [name, value] of entries) {
        const values = received.filter(([other]) => other.toLowerCase() === name).map(([, one]) => one);
        expect(value).toBe(values.join(", "));
        expect(value).toMatch(/^[\t\x20-\x7e]*$/);
      }
    }),
    { numRuns: 50 },
  );
});
