/** Changes the number of partitions, with the nodes stopped. */
import { ConfigError } from "../../config/load.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { loadConfig } from "../../node/config.ts";
import { withStores } from "../../node/program-stores.ts";
import { mostPartitions, resizePartitions } from "../../runtime/resize/resize.ts";

const usage = `Changes the number of partitions, which actors are spread over. All nodes are stopped first, and start again afterwards.

usage:
  npm run -s partitions -- resize <number>     1 to ${mostPartitions}

Everything that waits goes on: messages, timers, effects, work. It is one transaction of PostgreSQL: if it is broken off,
nothing has happened and it may be repeated. It needs about as much room as the table of actors has, and nodes of versions
before this one do not start any more once it has run.

The settings are those of the service (DATABASE_URL, REDIS_URL, SVC_DATA_DIR, ...). SVC_MODE is development when it is
not set, and then the embedded stores of SVC_DATA_DIR are joined, or started for as long as this takes.`;

const args = process.argv.slice(2);
const [command, given = "", ...more] = args;
const to = /^\d{1,4}$/.test(given) ? Number(given) : 0;
if (args.includes("--help") || command !== "resize" || more.length > 0 || to < 1 || to > mostPartitions) {
  (args.includes("--help") ? console.log : console.error)(usage);
  process.exit(args.includes("--help") ? 0 : 2);
}

try {
  const config = loadConfig(process.env);
  const progress = (line: string) => console.error(line);
  const resized = await withStores(config, progress, ({ sql, redis }) =>
    resizePartitions({ sql, redis, prefix: config.redisPrefix, to, progress }),
  );
  if (resized === null) console.log(`There are ${to} partitions already`);
  else console.log(`${resized.from} partitions are ${to} now; ${resized.waiting} waiting messages came along`);
  process.exit(0);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof StartFailure;
  console.error(expected ? error.message : error);
  process.exit(1);
}
