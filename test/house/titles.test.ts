/** Titles of tests: short, and about the caller, the tenant, the node, never about "whoever". */
import { expect, test } from "bun:test";
import { readSources } from "./sources.ts";

const maximum = 80;
const vague = /\b(whoever|whomever|whatever|nobody|somebody|everybody)\b/i;
const titles = /\b(?:test|describe)(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(\s*("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

function titlesOf(text: string): string[] {
  return [...text.matchAll(titles)].map(([, quoted = ""]) => quoted.slice(1, -1));
}

test("titles of tests have at most 80 characters and no vague subject", async () => {
  const sources = (await readSources("test")).filter(({ path }) => !path.startsWith("test/house/"));
  const bad = sources.flatMap(({ path, text }) =>
    titlesOf(text)
      .filter((title) => title.length > maximum || vague.test(title))
      .map((title) => `${path}: ${title}`),
  );
  expect(bad).toEqual([]);
});

test("titles are found with and without a table of cases", () => {
  const text = 'test("a", f);\ndescribe.skipIf(!b())(\n  `c`, g);\ntest.each([["x", 1], ["y", h(2)]])("%s d", i);';
  expect(titlesOf(text)).toEqual(["a", "c", "%s d"]);
});
