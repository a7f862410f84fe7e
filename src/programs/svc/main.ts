/** The command line `svc`: `npm run -s svc -- …` in a checkout, one file by `npm run -s build:cli`. */
import { processIo } from "./process/process-io.ts";
import { run } from "./program.ts";

const { io, flushed } = processIo();
const code = await run(process.argv.slice(2), io);
await flushed();
process.exit(code);
