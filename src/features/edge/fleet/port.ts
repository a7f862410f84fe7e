/**
 * What other features may use of fleet runs: the same as people may do, for a caller who says by which way it asks.
 *
 * A tool call on one host is begun by `hostCalls.begin`, under an id that its repeats have as well; `settled` says what
 * came of it, or that people are asked about it, as an approval of kind `fleet_run` whose `execution_id` is the run's.
 */
export type { FleetCaller } from "./asking/caller.ts";
export type { HostCall, HostCallOutcome, HostCalls } from "./one-host.ts";
export type { FleetReading } from "./reading.ts";
export type { Fleet } from "./service.ts";
