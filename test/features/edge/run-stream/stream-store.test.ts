/** What Redis keeps of a run's events (docs/reference/edge-fleet.md). */
import { afterAll, expect, test } from "bun:test";
import { openStreamStore } from "../../../../src/features/edge/run-stream/stream-store.ts";
import { freshStores } from "../../../harness/stores.ts";

const stores = await freshStores();
const store = openStreamStore(stores.redisServers ?? stores.redisUrl, stores.prefix, { events: 50, bytes: 1_000 });
afterAll(async () => {
  store.close();
  await stores.dispose();
});

test("of progress the newest events and bytes are kept, of the log every entry", async () => {
  const run = crypto.randomUUID();
  await store.begin(run, { filling: 0, shown: [] });
  const read = async () => {
    const events = (await store.read(run, 0, 0))?.events ?? [];
    return {
      entries: events.flatMap((event) => ("seq" in event ? [event.seq] : [])),
      texts: events.flatMap((event) => ("text" in event ? [event.text] : [])),
    };
  };
  const long = (nth: number) => `${nth}`.padEnd(100, "x");
  await store.append(run, 1, []);
  for (let nth = 0; nth < 40; nth++) await store.append(run, nth + 1, [long(2 * nth), long(2 * nth + 1)]);
  const entries = Array.from({ length: 40 }, (_, at) => at + 1);
  expect(await read()).toEqual({ entries, texts: Array.from({ length: 10 }, (_, at) => long(70 + at)) });
  await store.append(
    run,
    0,
    Array.from({ length: 200 }, (_, nth) => `${nth}`),
  );
  expect(await read()).toEqual({ entries, texts: Array.from({ length: 50 }, (_, at) => `${150 + at}`) });
  // What went is not counted any more.
  await store.append(run, 0, [long(1), long(2)]);
  expect((await read()).texts).toHaveLength(50);
});
