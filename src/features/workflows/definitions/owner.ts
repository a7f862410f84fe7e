/**
 * Whose a definition is, as the table knows it: a tenant's, or everybody's. Global ones show as the system's tenant's;
 * what that tenant registers for itself is as much its own as any tenant's.
 */
import { systemTenant } from "../../../../actors/identity/identity.ts";
import type { Scope } from "./schema.ts";

/** Owner of what every tenant sees; no tenant can be called so. */
export const everybody = "*";

export const ownerOf = (tenant: string, scope: Scope): string => (scope === "global" ? everybody : tenant);
export const scopeOf = (owner: string): Scope => (owner === everybody ? "global" : "tenant");
/** The tenant that answers for it. */
export const tenantOf = (owner: string): string => (owner === everybody ? systemTenant : owner);
