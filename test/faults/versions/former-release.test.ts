/** The former release and this version on one database and one host, upgraded and rolled back under load. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores } from "../../harness/stores.ts";
import { formerCheckout } from "./former-release.ts";
import { Work } from "./work.ts";

setDefaultTimeout(400_000);

const checkout = formerCheckout();
if (checkout === null) console.log("skipped: the history does not reach back to the former release");

const disposers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of disposers.splice(0).reverse()) await step();
});

interface Case {
  /** Nodes of each version. */
  readonly nodes: number;
  /** How nodes of this version end in the rollback. */
  readonly end: "stop" | "kill";
  /** Done between two steps. */
  readonly load: number;
  /** Whether all nodes have one data folder, as on one host. */
  readonly oneHost: boolean;
}

const short: Case = { nodes: 1, end: "kill", load: 25, oneHost: true };
const long: readonly Case[] = [
  { nodes: 2, end: "stop", load: 300, oneHost: true },
  { nodes: 2, end: "kill", load: 300, oneHost: false },
];
const cases = process.env.SVC_LONG_TESTS === "1" ? [short, ...long] : [short];

test.skipIf(checkout === null).each(cases)("an upgrade and a rollback under load: %o", async (one) => {
  const stores = await freshStores();
  disposers.push(() => stores.dispose());
  // The former release makes its own.
  await stores.sql`drop schema ${stores.sql(stores.schema)} cascade`;
  const dataDir = scratch("two-versions");
  const start = async (version: "former" | "this") => {
    const node = await startNodeProcess(stores, {
      env: { SVC_LOG_LEVEL: "warn", SVC_RATE_LIMITS: "false" },
      ...(one.oneHost ? { dataDir } : {}),
      ...(version === "former" && checkout !== null ? { checkout } : {}),
    });
    disposers.push(() => node.dispose());
    return node;
  };
  const work = new Work(stores.sql);
  /** One after the other, load meanwhile. */
  const replace = async (former: readonly NodeProcess[], version: "former" | "this", end: "stop" | "kill") => {
    let left = former;
    const next: NodeProcess[] = [];
    for (const node of former) {
      next.push(await start(version));
      work.nodes = [...left, ...next];
      await work.more(one.load);
      left = left.slice(1);
      work.nodes = [...left, ...next];
      // Due when the node that set the timer is gone.
      await work.leave(5);
      if (end === "kill") await node.kill();
      else expect(await node.stop()).toBe(0);
      await work.more(one.load);
    }
    return next;
  };

  const before: NodeProcess[] = [];
  for (let index = 0; index < one.nodes; index++) before.push(await start("former"));
  work.nodes = before;
  await work.begin();
  await work.more(one.load);
  const upgraded = await replace(before, "this", "stop");
  await replace(upgraded, "former", one.end);
  await work.settle();
});
