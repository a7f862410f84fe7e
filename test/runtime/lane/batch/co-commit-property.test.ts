/** Random trees of messages, co-committed or not, while commits fail and nodes go: nothing is lost, nothing done twice. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { TestNode } from "../../../harness/runtime/runtime.ts";
import { until } from "../../../harness/until.ts";
import { Harness } from "../../harness.ts";
import { type ScriptedState, scriptedActor, scriptedAt } from "../scripted-actor.ts";

const harness = new Harness();

interface Branch {
  readonly key: number;
  readonly apart: boolean;
  readonly throws: boolean;
  readonly below: readonly Branch[];
}
type Step = { readonly tell: Branch } | { readonly befalls: "refused" | "restart" | "nothing" };

function branch(depth: number): fc.Arbitrary<Branch> {
  return fc.record({
    key: fc.nat(11),
    apart: fc.boolean(),
    throws: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    below: depth === 0 ? fc.constant([]) : fc.array(branch(depth - 1), { maxLength: 3, size: "max" }),
  });
}
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: branch(4).map((tell) => ({ tell })) },
  { weight: 1, arbitrary: fc.constantFrom("refused", "restart", "nothing").map((befalls) => ({ befalls }) as const) },
);

/** The tree as orders with a label of its own for each; what is to be heard, and what to become a dead letter. */
function planted(root: Branch, run: string) {
  const heard: string[] = [];
  const dead: string[] = [];
  let count = 0;
  const keyOf = (key: number) => `${run.split(".")[0]}-${key}`;
  const grow = (at: Branch, lives: boolean): { key: string; apart: boolean; body: Json } => {
    const label = `${run}.${count++}`;
    if (lives) (at.throws ? dead : heard).push(label);
    const tells = at.below.map((one) => grow(one, lives && !at.throws));
    const body = { label, tells, ...(at.throws ? { act: "throw" } : {}) };
    return { key: keyOf(at.key), apart: at.apart, body };
  };
  return { ...grow(root, true), heard, dead };
}

test("nothing is lost and nothing done twice", async () => {
  const options = { actors: [scriptedActor()], actorIdleMs: 50, cachedActors: 4 };
  const nodes: TestNode[] = [...(await harness.pair(options))];
  // One by one: a statement that locks them all can meet a commit that locks some of them in another order.
  const refuseCommits = async () => {
    const { sql } = harness.stores;
    for (const { partition } of await sql`select partition from runtime_partitions`) {
      await sql`update runtime_partitions set epoch = epoch + 1 where partition = ${partition}`;
    }
  };
  const befall = async (what: "refused" | "restart" | "nothing", index: number) => {
    if (what === "refused") await refuseCommits();
    if (what !== "restart") return;
    await harness.stop(nodes[index % 2] as TestNode);
    nodes[index % 2] = await harness.node(options);
  };
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      run++;
      const heard: string[] = [];
      const dead: string[] = [];
      for (const [index, one] of steps.entries()) {
        if ("befalls" in one) await befall(one.befalls, index);
        else {
          const tree = planted(one.tell, `run${run}.${index}`);
          heard.push(...tree.heard);
          dead.push(...tree.dead);
          await (nodes[index % 2] as TestNode).runtime.tell(scriptedAt(tree.key), "play", tree.body);
        }
      }
      const { sql } = harness.stores;
      const found = async () => {
        const rows = await sql<{ state: string }[]>`select state from runtime_actors where key like ${`run${run}-%`}`;
        return rows.flatMap(({ state }) => (JSON.parse(state) as ScriptedState).heard);
      };
      const letters = async () => {
        const rows = await sql<
          { body: string }[]
        >`select body from runtime_dead_letters where key like ${`run${run}-%`}`;
        return rows.map(({ body }) => (JSON.parse(body) as { label: string }).label);
      };
      await until(async () => (await found()).length >= heard.length && (await letters()).length >= dead.length, {
        what: "every message to be taken",
      });
      expect((await found()).sort()).toEqual(heard.sort());
      expect((await letters()).sort()).toEqual(dead.sort());
    }),
    // A failure waits out its time: shrinking it would take longer than the test has.
    { numRuns: 60, endOnFailure: true },
  );
}, 120_000);
