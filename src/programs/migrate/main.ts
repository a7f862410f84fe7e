/** Brings the schema of the database up to date, and does nothing else: for an upgrade in which the nodes come later. */
import { ConfigError } from "../../config/load.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { loadConfig } from "../../node/config.ts";
import { migrateDirectly, withStores } from "../../node/program-stores.ts";

const usage = `Brings the schema of the database up to date. Nodes of the former version may run meanwhile, and go on beside it.

usage:
  npm run -s migrate

The settings are those of the service (DATABASE_URL, DATABASE_DIRECT_URL, SVC_DATABASE_SCHEMA, ...). SVC_MODE is
development when it is not set, and then the embedded stores of SVC_DATA_DIR are joined, or started for as long as this
takes. A schema that only a later version can work with is refused. Several of these programs, and of nodes that start,
wait for one another.`;

const args = process.argv.slice(2);
if (args.length > 0) {
  (args.includes("--help") ? console.log : console.error)(usage);
  process.exit(args.includes("--help") ? 0 : 2);
}

try {
  const config = loadConfig(process.env);
  const progress = (line: string) => console.error(line);
  const applied = await withStores(config, progress, ({ databaseUrl }) =>
    migrateDirectly(config, databaseUrl, progress),
  );
  for (const name of applied) console.log(`applied ${name}`);
  if (applied.length === 0) console.log("nothing to do");
  process.exit(0);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof StartFailure;
  console.error(expected ? error.message : error);
  process.exit(1);
}
