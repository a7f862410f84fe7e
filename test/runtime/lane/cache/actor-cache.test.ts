/** How much of the actors' states a node keeps in memory: bounded in number and in characters. */
import { expect, test } from "bun:test";
import { ActorCache } from "../../../../src/runtime/lane/cache/actor-cache.ts";
import type { CachedActor } from "../../../../src/runtime/lane/turn.ts";

const mebi = 1024 * 1024;

/** Actors `from` to `to` with states of so many characters, used one after the other. */
function fill(cache: ActorCache, size: number, from: number, to: number): CachedActor[] {
  const state = JSON.stringify("x".repeat(size));
  const actors: CachedActor[] = [];
  for (let index = from; index < to; index++) {
    const names = { kind: "counter", key: `${index}`, tenant: "acme", partition: 0 };
    cache.admit({ ...names, version: "1", logs: "{}", timers: null, format: 1, listed: null, state });
    const actor = cache.get(`counter/${index}`) as CachedActor;
    actor.usedAt = index;
    actors.push(actor);
  }
  return actors;
}

const options = { clock: { now: () => 0 }, cachedActors: 20_000, actorIdleMs: 1000 };

test("many small states leave memory when large together, the longest unused first", () => {
  const cache = new ActorCache(options);
  fill(cache, 15_000, 0, 4000);
  cache.evict();
  expect(cache.size).toBe(4000);
  fill(cache, 15_000, 4000, 6000);
  expect(cache.characters).toBeGreaterThan(64 * mebi);
  cache.evict();
  expect(cache.characters).toBeLessThanOrEqual(32 * mebi);
  expect([cache.has("counter/0"), cache.has("counter/5999")]).toEqual([false, true]);
});

test("a node counts the states that it has, those that came and those that left", () => {
  const cache = new ActorCache(options);
  const [first, second] = fill(cache, 1000, 0, 3) as [CachedActor, CachedActor];
  const each = first.size;
  expect(cache.characters).toBe(3 * each);
  for (const size of [each + 500, each - 500]) {
    second.size = size;
    expect(cache.weigh([first, second])).toBe(each + size);
    expect([cache.characters, cache.hasLarge]).toEqual([2 * each + size, false]);
  }
  second.size = 100_000;
  cache.weigh([second]);
  expect([cache.characters, cache.hasLarge]).toEqual([2 * each + 100_000, true]);
  second.size = 10;
  cache.weigh([second]);
  expect(cache.hasLarge).toBe(false);
  fill(cache, 1000, 2, 3);
  cache.delete("counter/0");
  // It is not here any more.
  cache.weigh([first]);
  expect(cache.characters).toBe(each + 10);
  cache.drop(new Set([0]));
  expect([cache.size, cache.characters]).toEqual([0, 0]);
});
