/** Reads that those who ask at once share. */
import { expect, test } from "bun:test";
import { lookingTogether } from "../../src/lib/looking-together.ts";
import { until } from "../harness/until.ts";

test("a read begins after the question; those who ask meanwhile share the next", async () => {
  const reads: PromiseWithResolvers<void>[] = [];
  const look = lookingTogether(() => {
    const read = Promise.withResolvers<void>();
    reads.push(read);
    return read.promise;
  }, 1);
  const first = look();
  await until(() => reads.length === 1);
  const [second, third] = [look(), look()];
  expect(second).toBe(third);
  reads[0]?.reject(new Error("away"));
  expect(first).rejects.toThrow("away");
  await first.catch(() => {});
  // A failed read keeps the next from nothing.
  await until(() => reads.length === 2);
  reads[1]?.resolve();
  await Promise.all([second, third]);
  expect(reads).toHaveLength(2);
});
