/** Whatever a router replies, it selects among what it may select (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMatching } from "../../../../src/features/stimuli/classification/match.ts";
import type { StimulusSource } from "../../../../src/features/stimuli/sources/port.ts";
import type { WorkflowChoices } from "../../../../src/features/workflows/definitions/choices.ts";

const tenant = "acme";
const uuid = (digit: number) => `0198b000-0000-7000-8000-00000000000${digit}`;
const workflow = (digit: number, owner: string, name: string) => ({
  workflow_id: uuid(digit),
  owner,
  name,
  description: "",
  labels: {},
});
/** Of each name the latest comes last. */
const all = [
  workflow(1, tenant, "refund"),
  workflow(2, tenant, "refund"),
  workflow(3, tenant, "sales"),
  workflow(4, "*", "shared"),
  workflow(5, "*", "refund"),
  workflow(6, "other", "theirs"),
];
const routes: Record<string, Partial<StimulusSource>> = {
  shop: { workflow: "sales", workflowVersion: null, enabled: true },
  wide: { workflow: "shared", workflowVersion: null, enabled: true },
  off: { workflow: "sales", workflowVersion: null, enabled: false },
  bare: { workflow: null, workflowVersion: null, enabled: true },
};

/** What a reference means to the tenant: its own before everybody's. */
function meant(ref: string) {
  const seen = all.filter(({ owner }) => owner === tenant || owner === "*");
  const named = seen.filter(({ workflow_id, name }) => workflow_id === ref || name === ref);
  return named.findLast(({ owner }) => owner === tenant) ?? named.at(-1) ?? null;
}
const choices: WorkflowChoices = {
  own: async () => ["refund", "sales"].flatMap((name) => meant(name) ?? []),
  listed: async (_, refs) =>
    refs.flatMap((ref) => {
      const found = meant(ref);
      return found === null ? [] : [{ ...found, pinned: found.workflow_id === ref }];
    }),
  find: async (_, { ref }) => meant(ref),
};
const matching = createMatching({
  choices,
  sourceOf: async (_, source) => (routes[source] as StimulusSource | undefined) ?? null,
  now: () => 0,
});

const refs = [...all.flatMap(({ workflow_id, name }) => [workflow_id, name]), ...Object.keys(routes)];
const ref = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...refs, ...refs.map((one) => one.toUpperCase())) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.record({ workflow: fc.jsonValue(), confidence: fc.jsonValue() }).map((one) => JSON.stringify(one)),
);
const wellFormed = fc
  .record({
    workflow_id: fc.option(ref, { nil: undefined }),
    workflow: fc.option(ref, { nil: undefined }),
    workflow_name: fc.option(ref, { nil: undefined }),
    confidence: fc.oneof(fc.constantFrom(0.69, 0.7, 1, undefined), fc.double({ min: 0, max: 1, noNaN: true })),
    reasoning: fc.option(fc.string({ unit: "binary" }), { nil: undefined }),
  })
  .map((one) => JSON.stringify(one));
const output = fc.oneof({ weight: 1, arbitrary: hostile }, { weight: 4, arbitrary: wellFormed });
const allowed = fc.option(fc.subarray(refs, { maxLength: 4 }));

test("no reply chooses what it may not", async () => {
  let chosen = 0;
  await fc.assert(
    fc.asyncProperty(output, allowed, fc.constantFrom(0, 0.7), async (text, allowedWorkflows, confidenceThreshold) => {
      const terms = { tenant, agentId: uuid(9), confidenceThreshold, allowedWorkflows };
      const outcome = await matching.verdict(terms, uuid(8), { output: text });
      if ("status" in outcome) {
        const isRejected = outcome.status === "rejected";
        expect(outcome).toMatchObject({
          status: isRejected ? "rejected" : "classification_failed",
          code: isRejected
            ? "classification_failed"
            : expect.stringMatching(/^(classification_parse_error|unknown_workflow)$/),
        });
        return;
      }
      chosen += 1;
      expect(outcome.detail.confidence).toBeGreaterThanOrEqual(confidenceThreshold);
      const found = meant(outcome.workflow);
      if (allowedWorkflows === null) expect(found?.owner).toBe(tenant);
      else {
        const named = allowedWorkflows.map(meant);
        const isListed = allowedWorkflows.some(
          (one, at) =>
            one === found?.workflow_id ||
            (one === named[at]?.name && found?.name === one && found.owner === named[at].owner),
        );
        expect(isListed).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
  expect(chosen).toBeGreaterThan(50);
});

test("classifications share one read of the workflows; a failed read is not shared", async () => {
  let looks = 0;
  let clock = 0;
  const counted = createMatching({
    choices: {
      ...choices,
      own: async () => {
        if (++looks === 1) throw new Error("away");
        return [all[2] as never];
      },
    },
    sourceOf: async () => null,
    now: () => clock,
  });
  const terms = { tenant, agentId: uuid(9), confidenceThreshold: 0.7, allowedWorkflows: null };
  await expect(counted.offered(terms)).rejects.toThrow("away");
  const offers = await Promise.all(Array.from({ length: 50 }, () => counted.offered(terms)));
  expect(looks).toBe(2);
  expect(new Set(offers).size).toBe(1);
  clock = 2999;
  await counted.offered(terms);
  expect(looks).toBe(2);
  clock = 3000;
  await counted.offered(terms);
  expect(looks).toBe(3);
});
