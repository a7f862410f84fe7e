/** Who is told of a stimulus, and when that is given up (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import type { Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import type { RunState } from "../../../../actors/workflow/run/state.ts";
import { waitRows } from "../../../../src/features/workflows/waits/port.ts";
import type { FittingWait } from "../../../../src/features/workflows/waits/records.ts";
import { telling } from "../../../../src/features/workflows/waits/telling.ts";
import { type Watched, watchedOf } from "../../../../src/features/workflows/waits/watched.ts";
import { MailboxFull, MessageRejected, type Runtime, RuntimeUnavailable } from "../../../../src/runtime/port.ts";

const stimulus = {
  tenant: "north",
  id: "s",
  source: "orders",
  content: '{"order":{"id":7},"kind":"a"}',
  contentEncoding: "utf-8",
  contentType: "application/json",
  contentSize: 30,
  headers: {},
} as unknown as Stimulus;

/** Waits by key; `answer` says what becomes of a question to one. */
function world(waits: Readonly<Record<string, readonly FittingWait[]>>, answer: (taker: string) => boolean | Error) {
  const asked: string[] = [];
  const looked: Watched[] = [];
  const reported: string[] = [];
  const at = (_: string, taker: string) => ({
    async ask(_type: string, { payload }: { payload: object }) {
      expect(payload).toEqual({ order: { id: 7 }, kind: "a" });
      asked.push(taker);
      const given = answer(taker);
      if (given instanceof Error) throw given;
      return { taken: given };
    },
  });
  const tell = telling({
    runtime: { of: () => ({ at }) } as unknown as Pick<Runtime, "of">,
    records: {
      keysOf: async () => Object.keys(waits),
      async fitting(_, watched, after, limit) {
        looked.push(watched);
        const all = waits[watched.key] ?? [];
        const from = after === null ? 0 : all.findIndex(({ taker }) => taker === after.taker) + 1;
        return all.slice(from, from + limit);
      },
    },
    report: (event) => void reported.push(event),
  });
  return { tell, asked, looked, reported };
}

const wait = (taker: string, match: string | null = null): FittingWait => ({ taker, entry: 1, match });

test("only what stands at a key that is waited for is looked up", async () => {
  const { tell, looked, asked } = world(
    { "": [wait("any")], "order.id": [wait("one")], "order.none": [wait("two")] },
    () => true,
  );
  expect(await tell(stimulus)).toBe(2);
  expect(looked).toEqual([watchedOf({ key: null, equals: null }), watchedOf({ key: "order.id", equals: "7" })]);
  expect(asked).toEqual(["any", "one"]);
});

test("none is told whose match does not hold; those that have left do not count", async () => {
  const waits = [wait("a", 'payload.kind == "a"'), wait("b", 'payload.kind == "b"'), wait("left"), wait("c")];
  const { tell, asked } = world({ "": waits }, (taker) => taker !== "left");
  expect(await tell(stimulus)).toBe(2);
  expect(asked.toSorted()).toEqual(["a", "c", "left"]);
});

test("any number of them is told, page by page", async () => {
  const waits = Array.from({ length: 700 }, (_, index) => wait(`taker-${index}`));
  const { tell, asked } = world({ "": waits }, () => true);
  expect(await tell(stimulus)).toBe(700);
  expect(new Set(asked).size).toBe(700);
});

test("a run that cannot take it holds no other up; a full mailbox is waited out", async () => {
  let isFull = true;
  const { tell, reported } = world({ "": [wait("broken"), wait("full"), wait("whole")] }, (taker) => {
    if (taker === "broken") return new MessageRejected("a fault");
    if (taker !== "full" || !isFull) return true;
    isFull = false;
    return new MailboxFull(1);
  });
  expect(await tell(stimulus)).toBe(2);
  expect(reported).toEqual(["stimulus_not_taken"]);
});

test("where the runtime is away the stimulus is tried again as a whole", async () => {
  const { tell } = world({ "": [wait("a")] }, () => new RuntimeUnavailable("away"));
  await expect(tell(stimulus)).rejects.toThrow(RuntimeUnavailable);
});

test("rows follow the waits of a run and of its lines, and go with them", () => {
  const waits = (entry: number, source: string) => ({
    entry,
    name: `AWAIT_${entry}`,
    work: { of: "wait", since: 5_000, watch: { source, key: "id", equals: "7", match: null } },
  });
  const state = (current: object | null) => ({ header: {}, current }) as unknown as RunState;
  const branch = (...currents: readonly (object | null)[]) =>
    state({ entry: 1, name: "B", work: { of: "branch", lines: currents.map((current) => ({ current })) } });
  const rows = (before: RunState | null, after: RunState | null) =>
    waitRows([{ key: "r", tenant: "north", before, after, version: 1 }]).map(({ parameters }) =>
      JSON.parse(String(parameters[0])),
    );
  const row = (entry: number, source: string) => ({
    taker: "r",
    entry,
    tenant: "north",
    source,
    state_name: `AWAIT_${entry}`,
    ...watchedOf({ key: "id", equals: "7" }),
    match: null,
    since: 5,
  });
  expect(rows(null, state(waits(1, "CRM")))).toEqual([[row(1, "crm")]]);
  expect(rows(state(waits(1, "crm")), state(waits(2, "crm")))).toEqual([[row(2, "crm")], [{ taker: "r", entry: 1 }]]);
  expect(rows(branch(null), branch(waits(2, "a"), waits(3, "b")))).toEqual([[row(2, "a"), row(3, "b")]]);
  expect(rows(branch(waits(2, "a"), waits(3, "b")), branch(waits(2, "a"), null))).toEqual([[{ taker: "r", entry: 3 }]]);
  expect(rows(state(waits(1, "crm")), null)).toEqual([[{ taker: "r", entry: 1 }]]);
  // Neither names of no source, nor what no store takes.
  for (const source of ["a b", "a\0"]) expect(rows(null, state(waits(1, source)))).toEqual([]);
});
