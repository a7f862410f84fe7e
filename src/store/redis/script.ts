/** Lua scripts of the service: `lua/<name>.lua`, each run by Redis in one piece. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RedisClient } from "./connections.ts";

/** A script as `EVALSHA` and, where Redis does not know it, `EVAL` take it. */
export function scriptOf(name: string): { readonly text: string; readonly digest: string } {
  const text = readFileSync(join(import.meta.dir, "lua", `${name}.lua`), "utf8");
  return { text, digest: createHash("sha1").update(text).digest("hex") };
}

/** Whether Redis has to be sent the text of a script. */
export const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("NOSCRIPT");

/**
 * A script that is run often: Redis is sent its digest, and its text only where it does not know it. Its keys have to
 * share a slot.
 * @returns runs it with keys and arguments
 */
export function scriptCommand(
  redis: RedisClient,
  name: string,
): (keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown> {
  const { text, digest } = scriptOf(name);
  // Not as a command that the client is taught: it would not know which of the arguments are keys, and so not the node.
  return async (keys, values) => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...values);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return redis.eval(text, keys.length, ...keys, ...values);
    }
  };
}
