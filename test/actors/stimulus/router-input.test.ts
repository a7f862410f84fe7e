/** What router agents are started with (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type OfferedWorkflow, offerOf, routerInput } from "../../../actors/stimulus/router-input.ts";

const stimulus = { id: "s-1", tenant: "acme", source: "crm", content: "New lead: Ada", headers: { "x-kind": "lead" } };
const workflow = (name: string, more: Partial<OfferedWorkflow> = {}): OfferedWorkflow => ({
  workflow_id: `id-${name}`,
  name,
  description: "",
  labels: {},
  ...more,
});
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test("the input is the stimulus, where it came from, and the workflows", () => {
  const offered = offerOf([workflow("refund", { description: "Gives money back", labels: { team: "sales" } })]);
  expect(routerInput(stimulus, offered)).toEqual({
    stimulus: "New lead: Ada",
    source: "crm",
    stimulus_id: "s-1",
    tenant_id: "acme",
    headers: { "x-kind": "lead" },
    workflows: [
      { workflow_id: "id-refund", name: "refund", description: "Gives money back", labels: { team: "sales" } },
    ],
  });
});

test("at most 200 workflows are offered, the first ones, and nothing else of them", () => {
  const all = Array.from({ length: 300 }, (_, at) => ({ ...workflow(`w${at}`), owner: "acme", pinned: false }));
  const offered = offerOf(all);
  expect(offered).toHaveLength(200);
  expect(offered[199]).toEqual(workflow("w199"));
});

test("wordy workflows do not crowd out the stimulus", () => {
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key-${at}`, "v".repeat(60)]));
  const all = Array.from({ length: 200 }, (_, at) => workflow(`w${at}`, { description: "d".repeat(4096), labels }));
  const offered = offerOf(all);
  expect(bytes(offered)).toBeLessThan(393_216);
  expect(offered[0]).toEqual(workflow("w0", { description: "d".repeat(256) }));
  const [one] = offerOf(all.slice(0, 1));
  expect(one?.description).toHaveLength(4096);
});

test("the input fits for any content, and a cut is told", () => {
  const offered = offerOf(Array.from({ length: 200 }, (_, at) => workflow(`w${at}`, { description: "d".repeat(200) })));
  const unit = fc.constantFrom("a", '"', "\u0001", "ä", "\u{1f600}");
  fc.assert(
    fc.property(unit, fc.integer({ min: 0, max: 1_048_576 }), (letter, size) => {
      const content = letter.repeat(Math.floor(size / Buffer.byteLength(letter)));
      const input = routerInput({ ...stimulus, content }, offered) as { stimulus: string; stimulus_truncated?: true };
      const isCut = input.stimulus !== content;
      return (
        bytes(input) <= 1_048_576 &&
        content.startsWith(input.stimulus) &&
        input.stimulus.isWellFormed() &&
        (input.stimulus_truncated === true) === isCut &&
        (!isCut || bytes(input) > 1_048_000)
      );
    }),
    { numRuns: 30 },
  );
});
