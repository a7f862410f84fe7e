/** Agents found by words (docs/reference/management-tools.md). */
import { expect, test } from "bun:test";
import { queryWords, searchScore } from "../../../actors/agent/search.ts";

const agent = {
  name: "parcel-triage",
  description: "Sorts notes into lanes",
  tags: ["logistics"],
  labels: { team: "north" },
};

test.each([
  ["parcel triage", 1],
  ["Logistics", 1],
  ["parcels", 0.8],
  ["sorts", 0.7],
  ["north lanes", 0.7],
  ["age", 0.5],
  ["parcel invoice", 0.5],
  ["invoice", 0],
  ["!!", 0],
])("%s scores %d", (query, score) => expect(searchScore(queryWords(query), agent)).toBe(score));

test("a query counts at most 32 words, each once", () => {
  expect(queryWords("a A a")).toEqual(["a"]);
  expect(queryWords(Array.from({ length: 99 }, (_, n) => `w${n}`).join(" "))).toHaveLength(32);
});
