/**
 * Messages that wait for a node that knows them, for operators: to look at, to drop, to have tried again.
 *
 * Runs beside the nodes, with their settings; in a development data directory it joins the embedded stores.
 */
import { ConfigError } from "../../config/load.ts";
import { auditedSystem, createAudit } from "../../features/audit/port.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { loadConfig } from "../../node/config.ts";
import { withStores } from "../../node/program-stores.ts";
import { type WaitingMessage, WaitingMessages } from "../../runtime/versions/waiting-messages.ts";
import { DatabaseClock } from "../../store/postgres/clock.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

const usage = `Messages that wait for a node of a version that knows them. Later messages of their actors wait behind them.

usage:
  npm run -s waiting-messages -- list            the first hundred: place, since when, actor, tenant, message, what it needs
  npm run -s waiting-messages -- show <place>    everything about one, the message's body included
  npm run -s waiting-messages -- drop <place>    makes a dead letter of it, so that those behind it go on
  npm run -s waiting-messages -- retry <place>   has it, and those behind it, tried again

They go on by themselves once a node that knows them runs. After a rollback that is to stay, drop them: a dead letter can
be sent again later (svc dead-letters). Either way the node that owns their partition begins it anew, and refuses
what it has in memory with 503.

The settings are those of the service (DATABASE_URL, REDIS_URL, SVC_DATA_DIR, ...). SVC_MODE is development when
it is not set, and then the embedded stores of SVC_DATA_DIR are joined, or started for as long as this takes.`;

const listed = 100;

async function run([command, place = ""]: readonly string[], messages: WaitingMessages): Promise<number> {
  if (command === "list") {
    const found = await messages.list(listed);
    for (const message of found) console.log(lineOf(message));
    if (found.length === 0) console.log("no waiting messages");
    return 0;
  }
  const message = await messages.inspect(place);
  if (message === null) return refuse(`No message waits at ${place}`);
  const named = message.kind === "" ? `the effect ${message.type}` : `${message.kind} ${message.key}: ${message.type}`;
  if (command === "show") {
    console.log(JSON.stringify(message, null, 2));
    return 0;
  }
  const isDrop = command === "drop";
  const done = isDrop ? await messages.drop(place, record("dropped")) : await messages.retry(place, record("retried"));
  if (!done) return refuse(`No message waits at ${place} any more`);
  console.log(isDrop ? `a dead letter now: ${named}` : `to be tried again: ${named}`);
  return 0;
}

const clock = new DatabaseClock();
const newId = () => Bun.randomUUIDv7("hex", clock.now());
const audit = createAudit({ now: clock.now, newId });

/** In the audit log of the message's tenant; an effect that no version here knows has none. */
function record(what: "dropped" | "retried") {
  return async (tx: Transaction, { place, tenant, kind, key, type }: WaitingMessage): Promise<void> => {
    if (tenant === "") return;
    await audit.append(tx, auditedSystem("waiting-messages"), {
      tenant,
      action: `waiting_message.${what}`,
      target: { type: "waiting_message", id: place },
      details: { actor_kind: kind, actor_key: key, message: type },
    });
  };
}

function lineOf({ place, parked_at, kind, key, tenant, type, need }: WaitingMessage): string {
  const actor = kind === "" ? "an effect" : `${kind} ${key}`;
  return `${place}  ${parked_at}  ${actor}  ${tenant}  ${type}  ${need ?? "behind another"}`;
}

function refuse(why: string): number {
  console.error(why);
  return 1;
}

async function openMessages(sql: Sql): Promise<WaitingMessages | null> {
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('runtime_parked') is not null as found`;
  return table?.found === true ? new WaitingMessages(sql, newId) : null;
}

const args = process.argv.slice(2);
const [command, place] = args;
const ofOne = command === "show" || command === "drop" || command === "retry";
const known = command === "list" ? args.length === 1 : ofOne && place !== undefined;
if (args.includes("--help") || !known) {
  (args.includes("--help") ? console.log : console.error)(usage);
  process.exit(args.includes("--help") ? 0 : 2);
}

try {
  const config = loadConfig(process.env);
  const code = await withStores(
    config,
    (line) => console.error(line),
    async ({ sql }) => {
      await clock.measure(sql);
      const messages = await openMessages(sql);
      if (messages === null) return refuse(`No node has set up the schema ${config.databaseSchema} of this database`);
      return await run(args, messages);
    },
  );
  process.exit(code);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof StartFailure;
  console.error(expected ? error.message : error);
  process.exit(1);
}
