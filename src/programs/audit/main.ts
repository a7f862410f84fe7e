/**
 * The audit log for operators: whether its chains are whole.
 *
 * Runs beside the nodes, with their settings; in a development data directory it joins the embedded stores.
 */
import { parseArgs } from "node:util";
import { ConfigError } from "../../config/load.ts";
import { auditedTenants, type ChainReport, type NotedHead, parseHead, verifyChain } from "../../features/audit/port.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { loadConfig } from "../../node/config.ts";
import { withStores } from "../../node/program-stores.ts";
import type { Sql } from "../../store/postgres/pool.ts";

const usage = `The audit log: whether entries were changed, taken away, exchanged or added, outside of the service.

usage:
  npm run -s audit -- verify                                      the chain of each tenant
  npm run -s audit -- verify --tenant <slug>                      of one
  npm run -s audit -- verify --tenant <slug> --head <end>         and that it still has an end that was noted

An end is <sequence>:<64 hex digits>, as this program shows it and the service logs it each hour (audit_chain_head).
A chain that was written anew from the beginning is told by such an end alone. Exit code: 0 where every chain is whole,
1 where one is not, 2 for wrong usage.

The settings are those of the service (DATABASE_URL, REDIS_URL, SVC_DATA_DIR, ...). SVC_MODE is development when
it is not set, and then the embedded stores of SVC_DATA_DIR are joined, or started for as long as this takes.`;

interface Wanted {
  readonly tenant: string | null;
  readonly head: NotedHead | null;
}

/** @returns null for wrong usage */
function wantedOf(args: readonly string[]): Wanted | null {
  try {
    const options = { tenant: { type: "string" }, head: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { tenant = null, head } = values;
    const noted = head === undefined ? null : parseHead(head);
    if (positionals.join(" ") !== "verify" || tenant === "") return null;
    if (head !== undefined && (noted === null || tenant === null)) return null;
    return { tenant, head: noted };
  } catch {
    return null;
  }
}

/** @returns the exit code */
async function verify(sql: Sql, { tenant, head }: Wanted): Promise<number> {
  let chains = 0;
  let broken = 0;
  for await (const slug of tenant === null ? auditedTenants(sql) : [tenant]) {
    const report = await verifyChain(sql, slug, head);
    chains++;
    if (report.faults.length > 0) broken++;
    for (const line of linesOf(report)) console.log(line);
  }
  if (tenant === null) console.log(`${chains} chains, ${broken === 0 ? "all of them whole" : `${broken} broken`}`);
  return broken === 0 ? 0 : 1;
}

function linesOf({ tenant, entries, since, head, waiting, faults }: ChainReport): readonly string[] {
  const facts = [
    faults.length === 0 ? "whole" : "BROKEN",
    `${entries} entries${since === null ? "" : ` since ${since.toISOString()}`}`,
    `${waiting} to be sealed`,
    `head ${head ?? "none"}`,
  ];
  return [`${tenant}: ${facts.join(", ")}`, ...faults.map((sentence) => `  ${sentence}`)];
}

async function hasLog(sql: Sql): Promise<boolean> {
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('audit_chains') is not null as found`;
  return table?.found === true;
}

const args = process.argv.slice(2);
const wanted = wantedOf(args);
if (args.includes("--help") || wanted === null) {
  (args.includes("--help") ? console.log : console.error)(usage);
  process.exit(args.includes("--help") ? 0 : 2);
}

try {
  const config = loadConfig(process.env);
  const code = await withStores(
    config,
    (line) => console.error(line),
    async ({ sql }) => {
      if (await hasLog(sql)) return verify(sql, wanted);
      console.error(`No node has set up the schema ${config.databaseSchema} of this database`);
      return 1;
    },
  );
  process.exit(code);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof StartFailure;
  console.error(expected ? error.message : error);
  process.exit(1);
}
