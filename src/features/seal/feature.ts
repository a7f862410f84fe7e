/** Signed tool calls: keys and sessions of agents, and the envelopes that they sign. */
import { execution } from "../../../actors/execution/execution.ts";
import { integer, secret, text } from "../../config/setting.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { edgeKeys } from "../edge/keys/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { createSigningKeys, sealedAnswers, shownKey } from "../encryption/port.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { invocations } from "../invocations/feature.ts";
import { pipeline } from "../pipeline/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { tools } from "../tools/feature.ts";
import { waitingCalls } from "../waiting-calls/feature.ts";
import { createAttempts } from "./attempts.ts";
import { exported } from "./exported.ts";
import { createAdmission } from "./invoke/admission.ts";
import { createCallers } from "./invoke/caller.ts";
import { createChecks } from "./invoke/checks.ts";
import { createInvoke } from "./invoke/invoke.ts";
import { callMetrics } from "./invoke/metrics.ts";
import { EnvelopeBody, InvokedBody, invokeRoutes } from "./invoke/routes.ts";
import { createLiveSessions } from "./invoke/session.ts";
import { invocationRefusal, refusalResponse } from "./refusal.ts";
import { createAttestation } from "./sessions/attestation.ts";
import { sessionEnds } from "./sessions/projection.ts";
import { sessionRecords } from "./sessions/records.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import {
  AttestationBody,
  AttestBody,
  FoundSessionBody,
  OpenedSessionBody,
  OpenSessionBody,
  SessionBody,
} from "./sessions/schema.ts";
import { createSessionService } from "./sessions/service.ts";
import { createSecurityTokens } from "./tokens.ts";
import { ListedTool, toolRoutes } from "./tools/routes.ts";

/** Sessions are kept as long as what was called with them is looked at. */
const keptDays = 90;
const eraseEveryMs = 3_600_000;
const erasedAtOnce = 1000;

export const seal = defineFeature({
  name: "seal",
  exported,
  needs: {
    audit,
    edgeKeys,
    encryption,
    executionTokens,
    executions,
    incidents,
    invocations,
    pipeline,
    securityContexts,
    tools,
    waitingCalls,
  },
  tenantTables: ["seal_sessions", "tool_call_attempts"],
  schemas: {
    Attest: AttestBody,
    SealAttestation: AttestationBody,
    NewSealSession: OpenSessionBody,
    SealSessionOpened: OpenedSessionBody,
    SealSession: SessionBody,
    SealSessionDetail: FoundSessionBody,
    SealCall: EnvelopeBody,
    SealCallAnswer: InvokedBody,
    Tool: ListedTool,
  },
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
    sealMaxAgeSeconds: integer("SVC_SEAL_MAX_AGE_SECONDS", {
      meaning: "how far the timestamp of an envelope may be from the time of the service, either way",
      unit: "s",
      min: 1,
      max: 300,
      default: 30,
    }),
    sealMaxBodyBytes: integer("SVC_SEAL_MAX_BODY_BYTES", {
      meaning: "largest envelope",
      unit: "bytes",
      min: 1024,
      max: 268_435_456,
      default: 4_194_304,
    }),
    sealTokenTtlSeconds: integer("SVC_SEAL_TOKEN_TTL_SECONDS", {
      meaning: "how long a security token lives, where its execution does not end before",
      unit: "s",
      min: 60,
      max: 86_400,
      default: 3600,
    }),
  },
  open({ settings, ...node }, needs) {
    const {
      audit,
      edgeKeys,
      encryption,
      executionTokens,
      executions,
      incidents,
      invocations,
      pipeline,
      securityContexts,
      tools,
      waitingCalls,
    } = needs;
    const { sql, runtime, sandboxes, tenants, starters, now, databaseNow, newId, info, warn } = node;
    const report = (error: unknown): void => warn("seal", { error: String(error) });
    const keys = createSigningKeys({
      ...{ sql, encryption, warn: report },
      table: "seal_keys",
      setting: "SVC_SEAL_SIGNING_KEY",
      given: settings.sealSigningKey,
      kidPrefix: "",
    });
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
      containerOf: (instanceId) => sandboxes.containerOf(instanceId),
      ttlSeconds: settings.sealTokenTtlSeconds,
      ended,
    });
    const sessions = createSessionService({
      ...{ sql, records, attestation, audit, incidents, ended, info },
      waiting: waitingCalls,
    });
    waitingCalls.sessionsBy(records.isOver);
    const { routes, internalRoutes } = sessionRoutes({
      sql,
      tokens: executionTokens.gateway,
      attestation,
      sessions,
      audit,
      incidents,
      published: async () => [
        ...(await keys.published()),
        ...(await edgeKeys.published()),
        ...(await executionTokens.publicKeys()).map(({ kid, jwk }) => shownKey(jwk, kid)),
      ],
      seal: sealedAnswers(encryption),
      info,
      now,
      newId,
    });
    const check = createChecks({
      sessions: createLiveSessions(tokens, records),
      admit: createAdmission(sql, runtime.nodeId),
      standing: (session) => records.standing(session),
      tenants,
      maskerOf: async ({ detached, executionId: key, tenant }) =>
        detached ? null : executions.maskerOf({ kind: execution.kind, key, tenant }),
      databaseNow,
      maxAgeSeconds: settings.sealMaxAgeSeconds,
      newId,
    });
    const metrics = callMetrics();
    const signedCalls = invokeRoutes({
      invoke: metrics.counting(
        createInvoke({
          sql,
          check,
          callerOf: createCallers({ runtime, plans: executions.plans, starters }),
          pipeline,
          registry: tools,
          invocations,
          standing: (session) => records.standing(session),
          waiting: waitingCalls,
          incidents,
          warn: report,
          now,
        }),
      ),
      refusing: (problem, requestId) => refusalResponse(invocationRefusal(problem), requestId, null, now()),
      maxBodyBytes: settings.sealMaxBodyBytes,
    });
    const listing = toolRoutes({
      runtime,
      plans: executions.plans,
      tokens: executionTokens.gateway,
      contexts: securityContexts,
      tenants,
      pipeline,
      registry: tools,
      publicUrl: node.publicUrl,
    });
    return {
      service: { attempts: { take: attempts.take } },
      routes: [...routes, ...signedCalls, listing.route],
      internalRoutes: [...internalRoutes, ...signedCalls, listing.internalRoute],
      projections: [sessionEnds],
      metrics: metrics.metrics,
      sweeps: [
        () => keys.startTouching(),
        () => encryption.startReencryption([keys.encrypted]),
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
