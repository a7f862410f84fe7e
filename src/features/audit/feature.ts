/** The audit log: written with the change it tells of, read by those who may, erased by age. */

import { integer } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { startSealing, startTellingHeads } from "./chain/sealing.ts";
import { createCrossings } from "./crossings.ts";
import { exported } from "./exported.ts";
import { createRefusals } from "./refusals.ts";
import { type EraseOlder, startAuditRetention } from "./retention.ts";
import { auditRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { auditFacts, createAudit } from "./service.ts";

export const audit = defineFeature({
  name: "audit",
  exported,
  schemas: named,
  settings: {
    auditRetentionDays: integer("SVC_AUDIT_LOG_RETENTION_DAYS", {
      meaning: "how long entries of the audit log, and histories of deleted agents and of definitions, are kept",
      unit: "days",
      min: 1,
      max: 3650,
      default: 400,
    }),
  },
  open({ settings, sql, tenants, now, newId, info, warn }) {
    const audit = createAudit({ now, newId });
    const refusals = createRefusals({ sql, now, report: warn });
    const others: EraseOlder[] = [];
    return {
      service: {
        ...audit,
        /** Registers how rows of another feature are erased that are kept as long as the log. */
        erases: (erase: EraseOlder): void => void others.push(erase),
      },
      facts: [auditFacts({ newId })],
      requestAudit: { ...createCrossings({ sql, audit, now, newId }), ...refusals },
      queues: [{ name: "refusals", depth: refusals.waiting }],
      routes: auditRoutes({ sql, audit, terms: tenants.terms, now }),
      jobs: [refusals.start],
      sweeps: [
        () => startSealing({ sql, now, info, warn }),
        () => startTellingHeads({ sql, now, info, warn }),
        () => startAuditRetention({ sql, retentionDays: settings.auditRetentionDays, now, report: info, others }),
      ],
    };
  },
});
