/** What a verb has to work with. */
import type { Client } from "../../client/client.ts";
import type { Output } from "../output/output.ts";
import type { Connection } from "../session/connection.ts";
import { Failure } from "./exit.ts";
import type { Io } from "./io.ts";

/** The options that every verb has; null: not given. */
export interface Globals {
  readonly context: string | null;
  readonly url: string | null;
  readonly tenant: string | null;
  readonly apiKey: string | null;
  readonly allowPlaintext: boolean;
  readonly json: boolean;
  readonly yaml: boolean;
  readonly color: boolean;
  readonly yes: boolean;
}

export interface Context {
  readonly io: Io;
  readonly globals: Globals;
  readonly out: Output;
  /** Where the service is, and who calls. @throws Failure when neither is known */
  readonly connection: () => Promise<Connection>;
  /** The typed client of that service. */
  readonly client: () => Promise<Client>;
}

/**
 * Asks before something is destroyed.
 *
 * @param question without a mark at its end: `Delete agent hello with all its versions`
 * @throws Failure `usage` without a terminal and without --yes, `failed` for a no
 */
export async function confirm({ io, globals }: Context, question: string): Promise<void> {
  if (globals.yes) return;
  const { inline } = await import("../output/inert.ts");
  if (!io.isInteractive) throw new Failure("usage", `${question}? That needs a yes: give --yes`);
  const said = (await io.ask(`${inline(question)}? [y/N] `))?.trim() ?? "";
  if (!/^y(?:es)?$/i.test(said)) throw new Failure("failed", "Nothing was changed", null, "declined");
}
