/** What other features may use of credentials. */
export type { ServerCredentials } from "./tool-servers.ts";
