/** What a verb has to work with. */
import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { inline } from "../output/inert.ts";
import type { Output } from "../output/output.ts";
import { Failure } from "../process/exit.ts";
import type { Globals } from "../process/globals.ts";
import type { Io } from "../process/io.ts";
import type { Connection } from "../session/connection.ts";

export interface Context {
  readonly io: Io;
  readonly globals: Globals;
  readonly out: Output;
  /** Where the service is, and who calls. @throws Failure when neither is known */
  readonly connection: () => Promise<Connection>;
  /** The typed client of that service. */
  readonly client: () => Promise<Client>;
  /** All commands, each with its verbs. */
  readonly tree: () => Promise<Command>;
}

/**
 * Asks before something is destroyed.
 *
 * @param question without a mark at its end: `Delete agent hello with all its versions`
 * @throws Failure `usage` without a terminal and without --yes, `failed` for a no
 */
export async function confirm({ io, globals }: Context, question: string): Promise<void> {
  if (globals.yes) return;
  if (!io.isInteractive) throw new Failure("usage", `${question}? That needs a yes: give --yes`);
  const said = (await io.ask(`${inline(question)}? [y/N] `))?.trim() ?? "";
  if (!/^y(?:es)?$/i.test(said)) throw new Failure("failed", "Nothing was changed", null, "declined");
}
