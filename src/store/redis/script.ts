/** Lua scripts of the service: `lua/<name>.lua`, each run by Redis in one piece. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RedisClient } from "./connections.ts";

/** The text of a script, for `EVAL`: Redis knows it again by its digest. */
export function luaScript(name: string): string {
  return readFileSync(join(import.meta.dir, "lua", `${name}.lua`), "utf8");
}

/**
 * A script that is run often: Redis is sent its digest, and its text only where it does not know it. Its keys have to
 * share a slot.
 * @returns runs it with keys and arguments
 */
export function scriptCommand(
  redis: RedisClient,
  name: string,
): (keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown> {
  const text = luaScript(name);
  const digest = createHash("sha1").update(text).digest("hex");
  // Not as a command that the client is taught: it would not know which of the arguments are keys, and so not the node.
  return async (keys, values) => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...values);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(text, keys.length, ...keys, ...values);
    }
  };
}
