/** What other features may use of hosts. */
export type { HostRow, KeyedHost } from "./records.ts";
export { type Hosts, hostName } from "./service.ts";
export { type HostTargets, hostTargets, matching, type TargetHost } from "./targets.ts";
