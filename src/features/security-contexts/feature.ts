/** Security contexts: what calls of tools are held to, by tenants' own records and the system's. */
import { audit } from "../audit/feature.ts";
import { defineFeature } from "../feature.ts";
import { tools } from "../tools/feature.ts";
import { type CallCounters, openCallCounters } from "./counters.ts";
import { type CeilingsOf, dryRun } from "./dry-run.ts";
import { exported } from "./exported.ts";
import { type ContextReader, createContextReader } from "./known.ts";
import { contextRecords } from "./records.ts";
import { contextRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createContextService, type NamedByAgents } from "./service.ts";

export interface SecurityContexts extends ContextReader {
  readonly counters: CallCounters;
  /** Registers whose agents name contexts. */
  namedBy(known: NamedByAgents): void;
  /** Registers who knows what executions are bound by beside their own context. */
  ceilingsFrom(known: CeilingsOf): void;
}

export const securityContexts = defineFeature({
  name: "security-contexts",
  exported,
  schemas: named,
  tenantTables: ["security_contexts"],
  needs: { audit, tools },
  open({ sql, redisServers, prefix, notices, now, newId, warn }, { audit, tools }) {
    const records = contextRecords(sql);
    const contexts = createContextReader({ records, notices, now });
    const counters = openCallCounters({
      redisServers,
      prefix,
      newId,
      warn: (error) => warn("call_leases_not_renewed", { error: String(error) }),
    });
    const naming: NamedByAgents[] = [];
    const ceilings: CeilingsOf[] = [];
    const namedByAgents: NamedByAgents = async (tenant, name) =>
      (await Promise.all(naming.map((known) => known(tenant, name)))).includes(true);
    const ceilingsOf: CeilingsOf = async (tenant, executionId) => {
      const found = await Promise.all(ceilings.map((known) => known(tenant, executionId)));
      return found.find((one) => one !== null) ?? null;
    };
    const service: SecurityContexts = {
      ...contexts,
      counters,
      namedBy: (known) => void naming.push(known),
      ceilingsFrom: (known) => void ceilings.push(known),
    };
    return {
      service,
      routes: contextRoutes({
        sql,
        service: createContextService({ records, contexts, audit, namedByAgents, now }),
        evaluate: ({ tenant, identity: { realm, userId } }, name, body) =>
          dryRun({ contexts, counters, ceilingsOf, registry: tools }, tenant, `${realm}/${userId}`, name, body),
        newId,
      }),
      queues: [{ name: "tool_leases", depth: counters.running }],
      close: () => counters.stop(),
    };
  },
});
