/** What policy looks at in a call: the paths, the command and the URL among its arguments. */

import type { Json } from "../../kernel/json.ts";
import { argvOf } from "../../tool/argv.ts";
import { CMD_RUN, canonicalName } from "../../tool/catalog.ts";
import type { CallCommand } from "./commands.ts";
import { resolveLexically, workspace } from "./paths.ts";

export interface CallFacts {
  /** Canonical: management tools begin with `svc.`. */
  readonly tool: string;
  /** Its other names, canonical. */
  readonly aliases: readonly string[];
  readonly arguments: { readonly [name: string]: Json | undefined };
  /** Of `cmd.run`. */
  readonly command: CallCommand | null;
  /** Of `web.*`. */
  readonly url: string | null;
  /** Of `fs.*` and the working directory of `cmd.run`: absolute, resolved as text. */
  readonly paths: readonly string[];
  /** Those of `paths` that were written with `..`. */
  readonly climbing: readonly string[];
}

/**
 * Reads a call; arguments of a wrong type say nothing, since the tool's schema refuses them.
 * @param tool under either prefix @param aliases of the tool, likewise
 */
export function callFacts(tool: string, given: CallFacts["arguments"], aliases: readonly string[] = []): CallFacts {
  const name = canonicalName(tool);
  const paths = pathsOf(name, given).map(resolveLexically);
  return {
    tool: name,
    aliases: aliases.map(canonicalName),
    arguments: given,
    command: name === CMD_RUN ? commandOf(given) : null,
    url: name.startsWith("web.") && typeof given.url === "string" ? given.url : null,
    paths: paths.map(({ path }) => path),
    climbing: paths.filter(({ climbs }) => climbs).map(({ path }) => path),
  };
}

function pathsOf(tool: string, given: CallFacts["arguments"]): string[] {
  if (tool.startsWith("fs.")) return [typeof given.path === "string" ? given.path : workspace];
  if (tool === CMD_RUN) return [typeof given.cwd === "string" ? given.cwd : workspace];
  return [];
}

function commandOf({ command, args }: CallFacts["arguments"]): CallCommand | null {
  if (typeof command !== "string") return null;
  const words = Array.isArray(args) ? args.map(String) : undefined;
  const argv = argvOf(command, words);
  if (argv === null) return null;
  const shell = words === undefined && argv.args[0] === "-c" && argv.args[1] === command;
  return { program: shell ? "sh" : argv.command, args: argv.args, shell };
}
