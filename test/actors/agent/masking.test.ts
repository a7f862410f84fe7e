/** What readers who may not deploy are not shown (docs/reference/agents.md). */
import { expect, test } from "bun:test";
import { masked } from "../../../actors/agent/masking.ts";
import type { Json } from "../../../actors/kernel/json.ts";

test("values are hidden, names and everything else stay", () => {
  const destination = { type: "rest", url: "https://x.example", secret: "hush", headers: { Authorization: "hush" } };
  const document = {
    environment: { A: "hush" },
    env: { A: "said" },
    spec: {
      env: { B: "hush", __proto__x: "hush" },
      environment: { C: "hush" },
      task: { instruction: "said" },
      output_handler: { type: "webhook", url: "https://x.example", headers: { Key: "hush" } },
      execution: { delivery: { destinations: [destination, { ...destination, secret: null }] } },
    },
  };
  const text = JSON.stringify(masked(document));
  expect(text).not.toContain("hush");
  for (const kept of ["said", "A", "B", "C", "Key", "Authorization", "https://x.example", "__proto__x"]) {
    expect(text).toContain(kept);
  }
  expect(masked(document)).toMatchObject({
    spec: { execution: { delivery: { destinations: [{}, { secret: null }] } } },
  });
});

test.each([[null], [7], ["text"], [[]], [{}], [{ spec: 7 }], [{ spec: { env: "x", execution: [] } }]])(
  "%j is shown as it is",
  (document) => {
    expect(masked(document as Json)).toEqual(document as never);
  },
);

test("a key __proto__ stays a key, with its value hidden", () => {
  expect(JSON.stringify(masked(JSON.parse('{"spec":{"env":{"__proto__":"hush"}}}')))).toBe(
    '{"spec":{"env":{"__proto__":"********"}}}',
  );
});
