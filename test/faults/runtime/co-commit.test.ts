/** kill -9 around the commit of co-committed turns: all of them are stored, or none. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { partitionOf } from "../../../src/runtime/mailbox/partition.ts";
import { until } from "../../harness/until.ts";
import { ClusterHarness } from "./harness.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

const at = new ClusterHarness();

const [first = "", ...others] = Array.from({ length: 200 }, (_, index) => `key-${index}`)
  .filter((key) => partitionOf("counter", key, 8) === 3)
  .slice(0, 4);

/** How much each counter of the chain has seen, read at one instant. */
async function seen(): Promise<string[]> {
  const rows = await at.stores.sql<{ state: string }[]>`
    select state from runtime_actors where key = any(${[first, ...others]})`;
  return rows.map(({ state }) => (JSON.parse(state) as { seen: string[] }).seen.join());
}

test.each([
  ["before_commit", 0],
  ["after_commit", 4],
] as const)("a node killed %s: %d of four turns are stored, and in the end each once", async (point, stored) => {
  const victim = await at.cluster.start({ crash: { point, nth: 1 } });
  await victim.tell(first, "relay", { to: others, label: "x" }).catch(() => {});
  expect(await victim.end()).toBe("SIGKILL");
  expect(await seen()).toEqual(Array.from({ length: stored }, () => "x"));
  const next = await at.cluster.start();
  await until(async () => (await seen()).length === 4, { what: "the turns" });
  expect(await next.ask(first, "relay", { to: others, label: "y" })).toBe(2);
  expect(await seen()).toEqual(["x,y", "x,y", "x,y", "x,y"]);
});

test("nodes killed in the middle of it, one after the other: no reader sees a part", async () => {
  let looking = true;
  const looks = (async () => {
    let changes = 0;
    let last = "";
    while (looking) {
      const now = await seen();
      expect(new Set(now).size).toBeLessThanOrEqual(1);
      if (now.length > 0) expect(now.length).toBe(4);
      if (now[0] !== last) changes++;
      last = now[0] ?? "";
    }
    return changes;
  })();
  const accepted: string[] = [];
  let sent = 0;
  for (const [point, nth] of [
    ["before_commit", 4],
    ["after_commit", 4],
    ["after_publish", 1],
    ["before_commit", 2],
  ] as const) {
    // What the one before left undone may take it to its point before it is ready.
    const victim = await at.cluster.start({ crash: { point, nth } }).catch(() => null);
    if (victim === null) continue;
    let living = true;
    const gone = victim.end().then(() => {
      living = false;
    });
    while (living) {
      const label = String(sent++);
      // Told, not asked: what a killed node had accepted must come about with the next one.
      const told = victim.tell(first, "relay", { to: point === "after_publish" ? [...others, "afar"] : others, label });
      await told.then(
        () => accepted.push(label),
        () => {},
      );
    }
    await gone;
  }
  const last = await at.cluster.start();
  await last.ask(first, "relay", { to: others, label: "last" });
  looking = false;
  expect(await looks).toBeGreaterThan(3);
  const found = (await seen())[0]?.split(",") ?? [];
  expect(new Set(found).size).toBe(found.length);
  expect(accepted.filter((label) => !found.includes(label))).toEqual([]);
});
