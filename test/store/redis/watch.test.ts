/** A Redis that is away is known to be: commands are refused at once, and pass again soon after it is back. */
import { afterEach, expect, test } from "bun:test";
import { isRedisUnavailable, openRedis, openSubscriber } from "../../../src/store/redis/connections.ts";
import { RedisGate } from "../../../src/store/redis/gate.ts";
import { watchRedis } from "../../../src/store/redis/watch.ts";
import { StoreProxy } from "../../faults/proxy.ts";
import { host, openPlace, RedisServer, serverSettings } from "../../harness/redis/server.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test("a Redis whose memory is full is told of, and still takes what makes room", async () => {
  const place = await openPlace();
  closing.push(() => place.remove());
  const [port = 0] = await place.ports(1);
  const server = new RedisServer(place.program, place.folder, port, serverSettings(place.folder, port));
  closing.push(() => server.dispose());
  await server.start();
  const url = `redis://${host}:${port}`;
  const redis = openRedis(url);
  const gate = new RedisGate();
  const watch = watchRedis({ url, gate }, () => {});
  closing.push(() => {
    watch.stop();
    redis.disconnect();
  });
  await redis.set("large", "x".repeat(100_000));
  await redis.config("SET", "maxmemory", "1");
  await until(() => watch.reason !== null, { what: "the watch to notice", timeoutMs: 20_000 });
  expect(watch.reason).toBe("its memory is full (OOM)");
  await expect(redis.set("more", "x")).rejects.toThrow("OOM");
  expect(gate.refuses("del")).toBeNull();
  expect(await redis.del("large")).toBe(1);
  await redis.config("SET", "maxmemory", "0");
  await until(() => watch.reason === null, { what: "the watch to notice that there is room", timeoutMs: 20_000 });
});

test.each([
  ["is silent", (proxy: StoreProxy) => proxy.hold(), (proxy: StoreProxy) => proxy.release()],
  ["refuses connections", (proxy: StoreProxy) => proxy.refuse(), (proxy: StoreProxy) => proxy.accept()],
])(
  "while Redis %s commands are refused at once, and pass once it is back",
  async (_, away, back) => {
    const stores = await freshStores();
    closing.push(() => stores.dispose());
    const proxy = await StoreProxy.to(stores.redisUrl);
    closing.push(() => proxy.close());
    const servers = { url: proxy.url, gate: new RedisGate() };
    const redis = openRedis(servers);
    const subscriber = openSubscriber(servers);
    const events: string[] = [];
    const watch = watchRedis(servers, (event) => events.push(event));
    closing.push(() => {
      watch.stop();
      redis.disconnect();
      subscriber.disconnect();
    });
    const key = `${stores.prefix}:gate`;
    await redis.set(key, "before");
    expect(watch.reason).toBeNull();

    away(proxy);
    // Under way when Redis goes: they end by their own limit, and so do those gathered behind them.
    // The second begins once the first is on its way.
    const waiting = Promise.allSettled([redis.get(key), Bun.sleep(20).then(() => redis.incr(`${key}:n`))]);
    await until(() => watch.reason !== null, { what: "the watch to notice", timeoutMs: 20_000 });
    const began = performance.now();
    const refused = await Promise.allSettled(Array.from({ length: 100 }, () => redis.get(key)));
    const tookMs = performance.now() - began;
    expect(tookMs).toBeLessThan(500);
    for (const one of refused) expect(one.status === "rejected" && isRedisUnavailable(one.reason)).toBe(true);
    for (const one of await waiting) expect(one.status === "rejected" && isRedisUnavailable(one.reason)).toBe(true);
    const script = redis.pipeline().get(key).incr(key).exec();
    expect((await script)?.every(([error]) => isRedisUnavailable(error))).toBe(true);

    back(proxy);
    const backAt = performance.now();
    await until(() => watch.reason === null, { what: "the watch to notice that it is back", timeoutMs: 20_000 });
    expect(await redis.get(key)).toBe("before");
    const heard = Promise.withResolvers<string>();
    subscriber.on("message", (_channel, text) => heard.resolve(text));
    await subscriber.subscribe(key);
    await redis.publish(key, "heard");
    expect(await heard.promise).toBe("heard");
    // A second usually; what a busy machine may add.
    expect(performance.now() - backAt).toBeLessThan(5_000);
    expect(events).toEqual(["redis_away", "redis_back"]);
  },
  60_000,
);
