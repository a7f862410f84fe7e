/** Lua scripts of the service: `lua/<name>.lua`, each run by Redis in one piece. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of a script, for `EVAL`: Redis knows it again by its digest. */
export function luaScript(name: string): string {
  return readFileSync(join(import.meta.dir, "lua", `${name}.lua`), "utf8");
}
