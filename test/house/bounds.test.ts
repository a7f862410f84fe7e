/** The table of queues, buffers and caches: complete as far as the code's usual means go, and true about names. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/reference/bounds.md");
const places = [...page.matchAll(/`(src\/[\w/.-]+\.ts)` `(\w+)`/g)].map(([, file = "", name = ""]) => ({ file, name }));

/** What makes a queue or a cache. */
const means =
  /new LRUCache\b|new FairTurns\b|new FairQueue\b|new Inbox\(|inBatches[<(]\w*[<({]|\b(?:max|most)Waiting\b/;
/** The means themselves, where they are not used. */
const makers = ["src/store/batches.ts", "src/lib/fair-turns.ts", "src/runtime/lane/lane.ts"];

test("every queue and cache of the code stands in the table of bounds", () => {
  const known = new Set([...places.map(({ file }) => file), ...makers]);
  const files = [...new Glob("src/**/*.ts").scanSync(root)].filter(
    (file) => !/^src\/(?:console|programs)\//.test(file),
  );
  expect(files.filter((file) => means.test(read(file)) && !known.has(file))).toEqual([]);
});

test("the bounds and series that the table names exist", () => {
  expect(places.length).toBeGreaterThan(30);
  expect(places.filter(({ file, name }) => !existsSync(join(root, file)) || !read(file).includes(name))).toEqual([]);
  const series = read("docs/reference/metrics.md");
  const named = [...page.matchAll(/`(svc_\w+)`/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !series.includes(`\`${name}\``))).toEqual([]);
});
