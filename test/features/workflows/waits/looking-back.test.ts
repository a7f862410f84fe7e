/** What a Wait finds that came before it (docs/reference/stimuli.md). */
import { afterAll, describe, expect, test } from "bun:test";
import type { TakenStimulus, Watch } from "../../../../actors/workflow/run/activities/stimulus.ts";
import { watchActivity } from "../../../../src/features/workflows/waits/looking-back.ts";
import { noteActivity } from "../../../../src/features/workflows/waits/noting.ts";
import { waitRecords } from "../../../../src/features/workflows/waits/records.ts";
import { takerFacts } from "../../../../src/features/workflows/waits/takers.ts";
import type { ActivityContext } from "../../../../src/runtime/port.ts";
import { freshStores } from "../../../harness/stores.ts";
import { type GivenRow, putRow } from "../../stimuli/rows.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());
const { sql } = stores;
const activity = watchActivity({ sql, records: waitRecords(sql) });
const hour = 3_600_000;
const taker = Bun.randomUUIDv7();

const context = { actor: { kind: "workflow_run", tenant: "north", key: taker }, signal: new AbortController().signal };

async function found(watch: Partial<Watch> & Pick<Watch, "source">): Promise<TakenStimulus | null> {
  const whole = { key: null, equals: null, match: null, ...watch };
  const input = { ...whole, entry: 1, state_name: "AWAIT", since: Date.now() - hour };
  const outcome = (await activity.run(input, context as unknown as ActivityContext)) as unknown;
  return (outcome as { stimulus: TakenStimulus | null }).stimulus;
}

const json = { content_type: "application/json" } as const;
const form = { content_type: "application/x-www-form-urlencoded; charset=utf-8" } as const;
let sources = 0;

describe("a value is found however its content writes it", () => {
  test.each<[string, GivenRow, string, boolean]>([
    ["as it is", { ...json, content: '{"id":"a-1"}' }, "a-1", true],
    ["not as a part of another", { ...json, content: '{"id":"a-11"}' }, "a-1", false],
    ["not at another key", { ...json, content: '{"ref":"a-1","id":"b"}' }, "a-1", false],
    ["escaped", { ...json, content: String.raw`{"id":"\u0061-1"}` }, "a-1", true],
    ["a number", { ...json, content: '{"id":88}' }, "88", true],
    ["a number as a power", { ...json, content: '{"id":8.8e1}' }, "88", true],
    ["a number that is rounded", { ...json, content: '{"id":87.99999999999999999999}' }, "88", true],
    ["a truth value", { ...json, content: '{"id":true}' }, "true", true],
    ["of a form", { ...form, content: "id=a%2D1" }, "a-1", true],
    ["without a content type", { content: '{"id":"a-1"}' }, "a-1", true],
    ["not in a plain text", { content_type: "text/plain", content: '{"id":"a-1"}' }, "a-1", false],
    ["not in bytes", { ...json, content_encoding: "base64", content: "a-1" }, "a-1", false],
    ["not what no store takes", { ...json, content: '{"id":"a"}' }, "a\0", false],
  ])("%s", async (_, row, equals, isFound) => {
    const source = `written-${++sources}`;
    const id = await putRow(sql, { source, status: "classified", ...row });
    expect((await found({ source: source.toUpperCase(), key: "id", equals }))?.stimulus_id ?? null).toBe(
      isFound ? id : null,
    );
  });
});

test("the oldest of the hour is taken, unless it was discarded", async () => {
  const at = (ms: number) => new Date(Date.now() - ms);
  const put = (status: string, ms: number, n: number) =>
    putRow(sql, { source: "aged", status, received_at: at(ms), ...json, content: `{"n":${n}}` });
  await put("classified", hour + 5_000, 1);
  await put("discarded", hour - 60_000, 2);
  const oldest = await put("start_failed", hour - 120_000, 3);
  await put("received", 1_000, 4);
  expect(await found({ source: "aged" })).toEqual({ stimulus_id: oldest, payload: { n: 3 } });
  expect((await found({ source: "aged", match: "payload.n > 3" }))?.payload).toEqual({ n: 4 });
  expect(await found({ source: "aged", match: "payload.n > 4" })).toBeNull();
  expect(await found({ source: "no source" })).toBeNull();
});

test("more than one page is read, and what the state took before is passed over", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 70; n++) {
    const received_at = new Date(Date.now() - 60_000 + n);
    ids.push(await putRow(sql, { source: "many", status: "classified", received_at, content: `{"n":${n}}`, ...json }));
  }
  expect((await found({ source: "many", match: "payload.n == 69" }))?.stimulus_id).toBe(ids[69] as string);
  const facts = ids.slice(0, 2).map((stimulus_id) => ({
    tenant: "north",
    at: Date.now(),
    fact: { stimulus_id, taker, run_id: taker, state_name: "AWAIT" },
  }));
  // Twice, as when a turn is taken again.
  for (const { text, parameters } of [...takerFacts.write(facts), ...takerFacts.write(facts)]) {
    await sql.unsafe(text, parameters as string[]);
  }
  expect((await found({ source: "many" }))?.stimulus_id).toBe(ids[2] as string);
});

describe("a stimulus that a run took later", () => {
  const note = async (id: string) => {
    const noting = noteActivity({ sql, now: Date.now, report: () => {} });
    await noting.run({ stimulus_id: id }, context as unknown as ActivityContext);
    const [row] = await sql`select status, dead_letter, error_code from stimuli where id = ${id}`;
    return { ...row };
  };

  test.each([
    ["rejected", "no_router_configured", "classified", false],
    ["rejected", "classification_failed", "classified", false],
    ["classification_failed", "unknown_workflow", "classification_failed", true],
    ["start_failed", "workflow_error", "start_failed", true],
  ])("is classified only where nothing routed it: %s, %s", async (status, error_code, becomes, dead_letter) => {
    const id = await putRow(sql, { status, error_code, dead_letter: true });
    const isNoted = becomes === "classified";
    expect(await note(id)).toEqual({ status: becomes, dead_letter, error_code: isNoted ? null : error_code });
  });

  test("is looked at again while it is being routed, and let go where it is gone", async () => {
    const id = await putRow(sql, { status: "received" });
    await expect(note(id)).rejects.toThrow("being routed");
    expect(await note(Bun.randomUUIDv7())).toEqual({});
  });
});
