/** A node that takes a place for a call and goes on running: the test kills it. Told whose and which call on stdin. */
import { openCallCounters } from "../../../src/features/security-contexts/counters.ts";

const [redisServers = "", prefix = ""] = process.argv.slice(2);
const counters = openCallCounters({
  redisServers,
  prefix,
  newId: () => Bun.randomUUIDv7(),
  warn: () => {},
  leaseMs: 1000,
});
const [whose, call] = await Bun.stdin.json();
const lease = await counters.acquire(whose, call);
process.stdout.write("allowed" in lease ? "refused" : "held");
