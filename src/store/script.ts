/** Lua scripts of the service: `lua/<name>.lua`, each run by Redis in one piece. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";

/** The text of a script, for `EVAL`: Redis knows it again by its digest. */
export function luaScript(name: string): string {
  return readFileSync(join(import.meta.dir, "lua", `${name}.lua`), "utf8");
}

/**
 * A script that is run often: Redis is sent its digest, and its text only where it does not know it.
 * @returns runs it with keys and arguments
 */
export function scriptCommand(
  redis: Redis,
  name: string,
): (keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown> {
  const command = name.replaceAll("-", "_");
  redis.defineCommand(command, { lua: luaScript(name) });
  // Defined on the connection a moment ago; its types cannot know.
  const run = (redis as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>)[command];
  if (run === undefined) throw new Error(`no command ${command}`);
  return (keys, values) => run.call(redis, keys.length, ...keys, ...values);
}
