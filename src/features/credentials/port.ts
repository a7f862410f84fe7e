/** What other features may use of credentials. */
export type { Definer, ServerCredential, ServerCredentials } from "./tool-servers.ts";
