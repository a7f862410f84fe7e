/** Nodes whose machines' clocks are off by five minutes, one ahead and one behind, beside each other. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { approvalsOf, end, failedEnd } from "./fixture.ts";

setDefaultTimeout(60_000);

const preload = join(import.meta.dir, "../machine-clock.ts");
const fiveMinutes = 300_000;

let stores: TestStores;
const nodes: NodeProcess[] = [];

beforeAll(async () => {
  stores = await freshStores();
  for (const off of [fiveMinutes, -fiveMinutes]) {
    const env = {
      SVC_LOG_LEVEL: "warn",
      BUN_OPTIONS: `--preload ${preload}`,
      SVC_TEST_CLOCK_MS: String(off),
    };
    nodes.push(await startNodeProcess(stores, { env }));
  }
});

afterAll(async () => {
  for (const node of nodes) await node.dispose();
  await stores.dispose();
});

const waits = (timeout: string) => ({ kind: "Human", prompt: "Go on?", timeout, transitions: [] });

test("deadlines come when they are due, and what is not due waits", async () => {
  const [ahead, behind] = nodes.map((node) => new NodeFixture(stores, node));
  if (ahead === undefined || behind === undefined) throw new Error("unreachable: two nodes");
  const late = [{ condition: "on_timeout", target: "LATE" }];
  await ahead.register("soon", { WORK: { ...waits("3s"), transitions: late }, LATE: end, REFUSED: failedEnd });
  await ahead.register("later", { WORK: waits("4m") });
  for (const at of [ahead, behind]) {
    const before = Date.now();
    const [soon, later] = [await at.start("soon"), await at.start("later")];
    const [approval] = await approvalsOf(at, later);
    expect(Math.abs(Date.parse((await at.record(soon)).started_at) - before)).toBeLessThan(10_000);
    await at.ended(soon);
    const took = Date.now() - before;
    expect(took).toBeGreaterThan(2_900);
    expect(took).toBeLessThan(15_000);
    expect((await at.record(later)).current_state).toBe("WORK");
    expect(approval?.status ?? "pending").toBe("pending");
  }
});
