/**
 * The service, with a measure of what holds its main thread that does not count what other processes take of the machine. It
 * answers at the socket `held` of the node's data directory: the longest hold since it was asked last, ms.
 */
import { join } from "node:path";
import { ownTime } from "./own-time.ts";

const everyMs = 10;

let last = ownTime();
let longest = 0;
setInterval(() => {
  const now = ownTime();
  longest = Math.max(longest, now - last - everyMs);
  last = now;
}, everyMs).unref();

const server = Bun.serve({
  unix: join(process.env.SVC_DATA_DIR ?? "", "held"),
  fetch() {
    const answer = Response.json(longest);
    longest = 0;
    return answer;
  },
});
server.unref();

await import("../../src/main.ts");
