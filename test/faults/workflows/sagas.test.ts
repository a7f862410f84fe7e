/** Runs that undo what they did and runs that follow each other, under a node that dies again and again. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { until } from "../../harness/until.ts";
import { dieAndReturn, end, failedEnd } from "./fixture.ts";

setDefaultTimeout(600_000);

const isLong = process.env.SVC_LONG_TESTS === "1";
/** Runs of the chain, and how often the node dies meanwhile. */
const [links, deaths] = isLong ? [1_000, 12] : [30, 1];

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
  // A link is as long as the text that it hands on.
  await at.register("chain", {
    GO: {
      ...note({ link: "{{length input.marks}}" }, [
        { condition: "custom", expression: `lt (length input.marks) ${links}`, target: "NEXT" },
        { condition: "always", target: "TAKE" },
      ]),
    },
    NEXT: { ...note({}), continue_as: { input: { marks: "{{input.marks}}x" } } },
    TAKE: { kind: "Wait", signal: "note", timeout: "1h", transitions: always("KEEP"), max_state_visits: 20 },
    KEEP: {
      ...note({ taken: "{{taken}}{{TAKE.payload.letter}}" }, [
        { condition: "custom", expression: `lt (length taken) ${deaths}`, target: "TAKE" },
        ...always("END"),
      ]),
      max_state_visits: 20,
    },
    END: end,
  });
}, 60_000);
afterAll(() => at.close());

const undone = async (id: string): Promise<string[]> =>
  (await at.logOf(id))
    .filter(({ type }) => type === "WorkflowCompensationStarted")
    .map(({ details }) => `${details.of_state} ${details.of_visit}`);

test("killed at any moment, a run undoes what it did once, newest first, and ends", async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => at.start("trip")));
  for (const [place, id] of ids.entries()) {
    const approval = await at.approvalOf(id);
    if (place % 2 === 0) await at.ok("POST", `/v1/human-approvals/${approval}/reject`, { reason: "no" });
    else await at.ok("POST", `/v1/workflows/executions/${id}/cancel`, { compensate: true });
    if (place === 1) await dieAndReturn(at);
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

test(`a chain of ${links} runs has no link missing or doubled, and loses no signal`, async () => {
  const first = await at.start("chain", { input: { marks: "x" } });
  const sent: string[] = [];
  let newest = first;
  /** Signals go to the run that is at work; one that has ended names its follower. */
  const send = async (letter: string): Promise<void> => {
    for (;;) {
      const body = { signal_name: "note", payload: { letter } };
      const { status, body: answer } = await at.node.call("POST", `/v1/workflows/executions/${newest}/signal`, body);
      if (status === 202) return void sent.push(letter);
      if (status !== 409) throw new Error(JSON.stringify(answer));
      newest = answer.continued_as;
    }
  };
  for (let death = 0; death < deaths; death += 1) {
    await send("abcdefghijklmnop".charAt(death));
    const reached = Math.floor(((death + 1) * links) / (deaths + 1));
    await until(async () => (await countOf()) >= reached, { timeoutMs: 300_000, what: `${reached} links` });
    await dieAndReturn(at);
  }
  await until(async () => (await countOf()) >= links, { timeoutMs: 300_000, what: "the last link", everyMs: 200 });
  const chain = await chainOf(first);
  expect(chain.map(({ input }) => input.marks.length)).toEqual(Array.from({ length: links }, (_, place) => place + 1));
  expect(chain.slice(1).map(({ continued_from }) => continued_from)).toEqual(chain.slice(0, -1).map(({ id }) => id));
  const last = await at.ended(chain.at(-1)?.id);
  expect([last.status, last.blackboard.taken]).toEqual(["completed", sent.join("")]);
  expect(await countOf()).toBe(links);
});

async function countOf(): Promise<number> {
  const [row] = await at.stores.sql<{ count: number }[]>`
    select count(*)::int as count from workflow_runs where workflow_name = 'chain'`;
  return row?.count ?? 0;
}
