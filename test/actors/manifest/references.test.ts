/** The grammar of references (docs/reference/secrets.md). */
import { expect, test } from "bun:test";
import { isReference, readReference, referencesIn } from "../../../actors/manifest/references.ts";

const id = "0192c0de-0000-7000-8000-00000000000a";

test.each([
  ["secret:db/password", { kind: "secret", path: "db/password", field: null, text: "secret:db/password" }],
  ["secret://db/password", { kind: "secret", path: "db/password", field: null, text: "secret:db/password" }],
  [
    "secret:ops/tickets#token",
    { kind: "secret", path: "ops/tickets", field: "token", text: "secret:ops/tickets#token" },
  ],
  ["secret:a.b_c@d-e", { kind: "secret", path: "a.b_c@d-e", field: null, text: "secret:a.b_c@d-e" }],
  [`credential:${id.toUpperCase()}`, { kind: "credential", by: { id }, text: `credential:${id}` }],
  [`credential://${id}`, { kind: "credential", by: { id }, text: `credential:${id}` }],
  ["credential:GitHub", { kind: "credential", by: { provider: "github", label: null }, text: "credential:github" }],
  [
    "credential://crm/my own / one",
    { kind: "credential", by: { provider: "crm", label: "my own / one" }, text: "credential:crm/my own / one" },
  ],
])("%s is a reference", (text, reference) => {
  expect(isReference(text)).toBe(true);
  expect(readReference(text)).toEqual(reference as never);
});

test.each([
  "secret:",
  "secret:/a",
  "secret:a/",
  "secret:a//b",
  "secret:a/../b",
  "secret:./a",
  "secret:a b",
  "secret:a%2Fb",
  "secret:ä",
  "secret:{{input.path}}",
  `secret:${"x".repeat(129)}`,
  `secret:${"x/".repeat(256)}x`,
  "secret:a#",
  "secret:a#b#c",
  "secret:a#b\n",
  "credential:",
  "credential:-x",
  "credential:a b",
  "credential:github/",
  "credential:github/a\0b",
  `credential:github/${"x".repeat(129)}`,
])("%j is meant as a reference and refused", (text) => {
  expect(isReference(text)).toBe(true);
  expect(readReference(text)).toBeString();
});

test.each(["", "db/password", "Secret:x", " secret:x", "secretly:x"])("%j is plain text", (text) => {
  expect(isReference(text)).toBe(false);
});

test("references of an environment are told with their places", () => {
  const found = referencesIn({ A: "plain", B: "secret:x", C: "secret:..", D: "credential:crm" }, "spec.env");
  expect(found.map(({ path, reference }) => [path, reference.text])).toEqual([
    ["spec.env.B", "secret:x"],
    ["spec.env.D", "credential:crm"],
  ]);
});
