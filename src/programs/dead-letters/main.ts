/**
 * Dead letters for operators: messages whose turn failed for good, to look at and to send again.
 *
 * Runs beside the nodes, with their settings; in a development data directory it joins the embedded stores.
 */
import { ConfigError } from "../../config/load.ts";
import { auditedSystem, createAudit } from "../../features/audit/port.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { type Config, loadConfig } from "../../node/config.ts";
import { withStores } from "../../node/program-stores.ts";
import type { DeadLetters } from "../../runtime/dead-letters/dead-letter.ts";
import { openDeadLetters } from "../../runtime/dead-letters/dead-letter.ts";
import type { DeadLetter } from "../../runtime/port.ts";
import { DatabaseClock } from "../../store/postgres/clock.ts";
import type { Transaction } from "../../store/postgres/pool.ts";

const usage = `Dead letters: messages whose turn failed for good. Nothing waits for them; they are kept to be looked at.

usage:
  npm run -s dead-letters -- list           the newest hundred: id, when, actor, tenant, message, why
  npm run -s dead-letters -- show <id>      everything about one, the message's body included
  npm run -s dead-letters -- replay <id>    sends the message again, once; if it fails again, that is a new letter

The settings are those of the service (DATABASE_URL, REDIS_URL, SVC_DATA_DIR, ...). SVC_MODE is development when
it is not set, and then the embedded stores of SVC_DATA_DIR are joined, or started for as long as this takes.`;

const listed = 100;

async function run([command, id = ""]: readonly string[], letters: DeadLetters): Promise<number> {
  if (command === "list") {
    const found = await letters.list({ limit: listed });
    for (const letter of found) console.log(lineOf(letter));
    if (found.length === 0) console.log("no dead letters");
    return 0;
  }
  const letter = await letters.inspect(id);
  if (letter === null) return refuse(`There is no dead letter ${id}`);
  if (command === "show") {
    console.log(JSON.stringify(letter, null, 2));
    return 0;
  }
  if (letter.replayed_at !== null) return refuse(`It was sent again already, at ${letter.replayed_at}`);
  if (!(await letters.replay(id, record))) return refuse("It cannot be sent again: its mailbox entry was damaged");
  console.log(`sent again to ${letter.kind} ${letter.key}: ${letter.type}`);
  return 0;
}

const clock = new DatabaseClock();
const audit = createAudit({ now: clock.now, newId: () => Bun.randomUUIDv7("hex", clock.now()) });

/** In the audit log of the letter's tenant; who has the stores' passwords is known to their keeper alone. */
function record(tx: Transaction, { id, tenant, kind, key, type }: DeadLetter): Promise<void> {
  return audit.append(tx, auditedSystem("dead-letters"), {
    tenant,
    action: "dead_letter.replayed",
    target: { type: "dead_letter", id },
    details: { actor_kind: kind, actor_key: key, message: type },
  });
}

function lineOf({ id, created_at, kind, key, tenant, type, error, replayed_at }: DeadLetter): string {
  const reason = error.split("\n", 1)[0] ?? "";
  const replayed = replayed_at === null ? "" : `  (sent again ${replayed_at})`;
  return `${id}  ${created_at}  ${kind} ${key}  ${tenant}  ${type}  ${reason}${replayed}`;
}

function refuse(why: string): number {
  console.error(why);
  return 1;
}

function withLetters(config: Config, act: (letters: DeadLetters) => Promise<number>): Promise<number> {
  return withStores(
    config,
    (line) => console.error(line),
    async ({ sql }) => {
      const letters = await openDeadLetters(sql);
      if (letters === null) return refuse(`No node has set up the schema ${config.databaseSchema} of this database`);
      await clock.measure(sql);
      return await act(letters);
    },
  );
}

const args = process.argv.slice(2);
const [command, id] = args;
const known = command === "list" ? args.length === 1 : (command === "show" || command === "replay") && id !== undefined;
if (args.includes("--help") || !known) {
  (args.includes("--help") ? console.log : console.error)(usage);
  process.exit(args.includes("--help") ? 0 : 2);
}

try {
  process.exit(await withLetters(loadConfig(process.env), (letters) => run(args, letters)));
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof StartFailure;
  console.error(expected ? error.message : error);
  process.exit(1);
}
