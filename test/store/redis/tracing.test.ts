/** Commands of Redis are traced for those who listen, and cost nothing more where there are none. */
import { afterEach, expect, test } from "bun:test";
import { tracingChannel } from "node:diagnostics_channel";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { freshStores } from "../../harness/stores.ts";

const channel = tracingChannel("ioredis:command");
const heard: unknown[] = [];
const listener = (context: unknown) => void heard.push(context);

afterEach(() => {
  channel.start.unsubscribe(listener);
});

test("a command is traced only where its traces are listened to", async () => {
  const stores = await freshStores();
  const redis = openRedis(stores.redisServers ?? stores.redisUrl);
  try {
    expect(channel.hasSubscribers).toBe(false);
    channel.start.subscribe(listener);
    expect(channel.hasSubscribers).toBe(true);
    await redis.ping();
    expect(heard).toContainEqual(expect.objectContaining({ command: "ping" }));
  } finally {
    redis.disconnect();
    await stores.dispose();
  }
});
