/** The audit log (docs/reference/identity.md), as features that change something use it. */
export type { AuditedBy } from "../../../actors/kernel/audit.ts";
export { allTenantsQuery, type CrossingReads, tenantsShown } from "./all-tenants.ts";
export { type AuditedCall, actorOf, auditedAgent, auditedBy, auditedRequest, auditedSystem } from "./by.ts";
export { auditedTenants, type ChainReport, type NotedHead, parseHead, verifyChain } from "./chain/verify.ts";
export { afterObserved, ObservedFilter, observedWhere } from "./newest-first.ts";
export { type Audit, type AuditedChange, createAudit } from "./service.ts";
