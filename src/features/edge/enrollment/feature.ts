/** Enrollment: how a daemon becomes a host of a tenant, and how it changes its key. */
import { createFailureLimit } from "../../../identity/authenticate.ts";
import { repeatedly } from "../../../lib/timers.ts";
import { audit } from "../../audit/feature.ts";
import { encryption } from "../../encryption/feature.ts";
import { sealedAnswers } from "../../encryption/port.ts";
import { defineFeature } from "../../feature.ts";
import { incidents } from "../../incidents/feature.ts";
import { edgeHosts } from "../hosts/feature.ts";
import { edgeKeys } from "../keys/feature.ts";
import { createDaemons } from "./daemon.ts";
import { exported } from "./exported.ts";
import { tokenRecords } from "./records.ts";
import { enrollmentRoutes } from "./routes.ts";
import { EnrollmentToken, IssuedToken } from "./schema.ts";
import { createTokens } from "./tokens.ts";

/** Of one address in a minute. */
const maxFailures = 10;
const eraseEveryMs = 3_600_000;
const erasedAtOnce = 1000;

export const edgeEnrollment = defineFeature({
  name: "edge/enrollment",
  exported,
  needs: { audit, edgeHosts, edgeKeys, encryption, incidents },
  schemas: { EdgeEnrollmentToken: EnrollmentToken, IssuedEdgeEnrollmentToken: IssuedToken },
  tenantTables: ["edge_enrollment_tokens"],
  open(node, { audit, edgeHosts, edgeKeys, encryption, incidents }) {
    const { sql, tenants, members, now, databaseNow, newId, info, warn } = node;
    const records = tokenRecords(sql);
    // What is derived from the port alone is reached from this machine only.
    const isGiven = (node.environmentAsSet().SVC_PUBLIC_URL ?? "") !== "";
    const isLocal = new URL(node.publicUrl).hostname === "localhost";
    const publicUrl = isGiven || !isLocal ? node.publicUrl : null;
    const tokens = createTokens({
      ...{ sql, records, tenants, members, audit, publicUrl, databaseNow },
      keys: edgeKeys,
      hosts: edgeHosts,
    });
    const daemons = createDaemons({
      ...{ sql, records, tenants, incidents, databaseNow, info },
      keys: edgeKeys,
      hosts: edgeHosts,
    });
    const failures = createFailureLimit(now, maxFailures);
    return {
      service: null,
      routes: enrollmentRoutes({ sql, tokens, daemons, failures, seal: sealedAnswers(encryption), newId }),
      sweeps: [
        () =>
          repeatedly(
            eraseEveryMs,
            async () => {
              while ((await records.erase(erasedAtOnce)) === erasedAtOnce);
            },
            (error) => warn("edge_enrollment", { error: String(error) }),
          ),
      ],
    };
  },
});
