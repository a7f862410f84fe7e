/** What the floods of some tenants cost another one (src/runtime/README.md, "By turns of tenants"). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { deadly } from "../deadly.ts";
import { ClusterHarness } from "./harness.ts";

setDefaultTimeout(120_000);

const at = new ClusterHarness();

const isLong = process.env.SVC_LONG_TESTS === "1";
const [queued, large, slow] = isLong ? [50_000, 40, 1000] : [10_000, 20, 200];
/** Between two batches others have their time: a machine that is otherwise quiet does no better. */
const usualTurnMs = 40;
const share = (times: readonly number[], part: number) =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;

test.each([
  ["tenants with a queue, with large and with slow messages", true],
  ["the same, where the questions go by the mailbox", false],
] as const)("%s", async (_what, direct) => {
  const node = await at.cluster.start();
  await node.measure("small", 100, direct);
  const quiet = await node.measure("small", 200, direct);
  const floods = [
    node.flood("queue", { messages: queued, atOnce: 2000, body: {}, characters: 0 }),
    node.flood("large", { messages: large, atOnce: 2, body: {}, characters: 16 * 1024 * 1024 }),
    node.flood("slow", { messages: slow, atOnce: 20, body: { label: deadly.time }, characters: 0 }),
  ];
  const busy = await node.measure("small", 40, direct);
  // Behind the queue of the first tenant alone, each answer would have waited for all of it.
  expect(await Promise.race([floods[0], Promise.resolve("still under way")])).toBe("still under way");
  if (isLong) {
    const more = await node.measure("small", 360, direct);
    const [before, during] = [share(quiet, 0.99), share([...busy, ...more], 0.99)];
    console.log(`p99 ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms beside the floods`);
    expect(during).toBeLessThan(3 * Math.max(before, usualTurnMs));
  }
  expect(await Promise.all(floods)).toEqual([queued, large, slow]);
});
