/** Runs that undo what they did and runs that follow each other, under a node that dies again and again. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { until } from "../../harness/until.ts";
import { dieAndReturn, end, failedEnd } from "./fixture.ts";

setDefaultTimeout(600_000);

const isLong = process.env.SVC_LONG_TESTS === "1";
/** Runs of the chain, and how often the node dies meanwhile. */
const [links, deaths] = isLong ? [1_000, 12] : [60, 2];

let at: NodeFixture;
const note = (change: object, transitions: object[] = []) => ({
  kind: "System",
  command: "update_blackboard",
  env: change,
  transitions,
});
const always = (target: string) => [{ condition: "always", target }];

beforeAll(async () => {
  at = await NodeFixture.open({ SVC_RATE_LIMITS: "false" });
  const of = "{{undone}} {{state.of.name}}{{state.of.visit}}";
  await at.register("trip", {
    PAY: { ...note({ paid: "yes" }, always("BOOK")), compensate: "REFUND" },
    BOOK: {
      ...note({ rooms: "{{rooms}}x" }, [
        { condition: "custom", expression: "rooms == 'x'", target: "BOOK" },
        ...always("ASK"),
      ]),
      compensate: "CANCEL",
    },
    ASK: {
      kind: "Human",
      prompt: "Go?",
      transitions: [
        { condition: "approved", target: "DONE" },
        { condition: "rejected", target: "LOST" },
      ],
    },
    DONE: end,
    LOST: failedEnd,
    REFUND: note({ undone: of }),
    CANCEL: note({ undone: of }),
  });
  await at.register("chain", {
    ONE: note({ left: "{{#if input.left}}{{input.left}}{{else}}0{{/if}}" }, [
      { condition: "custom", expression: "input.left > 0", target: "TWO" },
      ...always("END"),
    ]),
    TWO: {
      ...note({ next: "{{lookup input.rest 0}}" }),
      continue_as: { input: { left: "{{json input.next}}", rest: "x" } },
    },
    END: end,
  });
}, 60_000);
afterAll(() => at.close());

const undone = async (id: string): Promise<string[]> =>
  (await at.logOf(id))
    .filter(({ type }) => type === "WorkflowCompensationStarted")
    .map(({ details }) => `${details.of_state} ${details.of_visit}`);

test("what was done is undone once, newest first, and then the run ends, killed at any moment", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => at.start("trip")));
  for (const [place, id] of ids.entries()) {
    const approval = await at.approvalOf(id);
    if (place % 2 === 0) await at.ok("POST", `/v1/human-approvals/${approval}/reject`, { reason: "no" });
    else await at.ok("POST", `/v1/workflows/executions/${id}/cancel`, { compensate: true });
    if (place % 3 === 1) await dieAndReturn(at);
  }
  for (const [place, id] of ids.entries()) {
    const record = await at.ended(id);
    expect(record).toMatchObject({
      status: place % 2 === 0 ? "failed" : "cancelled",
      error_code: place % 2 === 0 ? "outcome_failed" : null,
      compensation: { status: "done", remaining: [] },
    });
    expect(record.blackboard.undone).toBe(" BOOK2 BOOK1 PAY1");
    expect(await undone(id)).toEqual(["BOOK 2", "BOOK 1", "PAY 1"]);
    const types = (await at.logOf(id)).map(({ type }) => type);
    expect(types.at(-1)).toBe(place % 2 === 0 ? "WorkflowExecutionFailed" : "WorkflowExecutionCancelled");
  }
});

/** The runs of a chain in their order, from the first one. */
async function chainOf(first: string): Promise<LooseJson[]> {
  const chain: LooseJson[] = [];
  for (let id: string | null = first; id !== null; ) {
    const record: LooseJson = await at.record(id);
    chain.push(record);
    id = record.continued_as;
  }
  return chain;
}

test(`a chain of ${links} runs has no link missing or doubled, whenever the node dies`, async () => {
  await at.register("links", {
    GO: note({}, [{ condition: "custom", expression: `input.link < ${links}`, target: "NEXT" }, ...always("END")]),
    NEXT: { ...note({}), continue_as: { input: { link: "{{json input.next}}" } } },
    END: end,
  });
});
