/** A node reduced to its use of the stores: joins, says so on one line, leaves when its standard input ends. */
import { joinStores } from "../../../src/store/embedded/stores.ts";

const [dataDir = ""] = process.argv.slice(2);
const joined = await joinStores({ dataDir });
console.log(JSON.stringify({ databaseUrl: joined.databaseUrl, redisUrl: joined.redisUrl, started: joined.started }));
await Bun.stdin.text();
await joined.leave();
