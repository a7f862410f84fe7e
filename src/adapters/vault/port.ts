/** A Vault or OpenBao server with a secrets engine of kind KV, version 2. */
export { type KvEntry, type KvMetadata, openVault, type Vault, type VaultSettings } from "./client.ts";
export { VaultUnavailable } from "./transport.ts";
