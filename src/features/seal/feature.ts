/** Signed tool calls: keys and sessions of agents, and the envelopes that they sign. */
import { integer, secret, text } from "../../config/setting.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { sealedAnswers } from "../encryption/port.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { createAttempts } from "./attempts.ts";
import { createSealKeys, encryptedKeys, shownKey } from "./keys.ts";
import { createAttestation } from "./sessions/attestation.ts";
import { sessionEnds } from "./sessions/projection.ts";
import { sessionRecords } from "./sessions/records.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { AttestationBody, SessionBody } from "./sessions/schema.ts";
import { createSessionService } from "./sessions/service.ts";
import { createSecurityTokens } from "./tokens.ts";

/** Sessions are kept as long as what was called with them is looked at. */
const keptDays = 90;
const eraseEveryMs = 3_600_000;
const erasedAtOnce = 1000;

export const seal = defineFeature({
  name: "seal",
  needs: { audit, encryption, executionTokens, executions, incidents, securityContexts },
  tenantTables: ["seal_sessions", "tool_call_attempts"],
  schemas: { SealAttestation: AttestationBody, SealSession: SessionBody },
  settings: {
    sealSigningKey: secret("SVC_SEAL_SIGNING_KEY", {
      meaning: "Ed25519 key that security tokens are signed with: PKCS#8 in PEM, `\\n` for its line ends allowed",
      defaultText: "made at the first start",
    }),
    sealIssuer: text("SVC_SEAL_ISSUER", {
      meaning: "`iss` of security tokens",
      pattern: /^[\x21-\x7e]{1,256}$/,
      bounds: "1–256 printable characters",
      default: "svc-orchestrator",
    }),
    sealTokenTtlSeconds: integer("SVC_SEAL_TOKEN_TTL_SECONDS", {
      meaning: "how long a security token lives, where its execution does not end before",
      unit: "s",
      min: 60,
      max: 86_400,
      default: 3600,
    }),
  },
  open({ settings, ...node }, { audit, encryption, executionTokens, incidents, securityContexts }) {
    const { sql, runtime, tenants, now, databaseNow, newId, info, warn } = node;
    const report = (error: unknown): void => warn("seal", { error: String(error) });
    const keys = createSealKeys({ sql, encryption, given: settings.sealSigningKey, now, warn: report });
    const tokens = createSecurityTokens(keys, databaseNow, settings.sealIssuer);
    const records = sessionRecords(sql);
    const attempts = createAttempts(sql);
    const ended = (): void => {};
    const attestation = createAttestation({
      sql,
      runtime,
      records,
      tokens,
      contexts: securityContexts,
      tenants,
      databaseNow,
      newId,
      ttlSeconds: settings.sealTokenTtlSeconds,
      ended,
    });
    const sessions = createSessionService({ sql, records, attestation, audit, incidents, ended, info });
    const { routes, internalRoutes } = sessionRoutes({
      sql,
      tokens: executionTokens.gateway,
      attestation,
      sessions,
      audit,
      incidents,
      published: async () => [
        ...(await keys.published()),
        ...(await executionTokens.publicKeys()).map(({ kid, jwk }) => shownKey(jwk, kid)),
      ],
      seal: sealedAnswers(encryption),
      info,
      now,
      newId,
    });
    return {
      service: { attempts: { take: attempts.take } },
      routes,
      internalRoutes,
      projections: [sessionEnds],
      sweeps: [
        () => keys.startTouching(),
        () => encryption.startReencryption([encryptedKeys]),
        () =>
          repeatedly(
            eraseEveryMs,
            async () => {
              await attempts.clear();
              while ((await records.erase(keptDays, erasedAtOnce)) === erasedAtOnce);
            },
            report,
          ),
      ],
      async endWork(tenant: string) {
        await records.revokeOf(tenant, "deleted");
        return true;
      },
    };
  },
});
