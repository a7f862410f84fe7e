/** Consents with another device: a code that the person types in there (docs/reference/credentials.md). */
import { scopeOf } from "../../../../actors/credential/ownership.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { beginDevice, OAuthFailure, pollDevice, type TokenAnswer } from "../../../adapters/oauth/port.ts";
import { auditedBy } from "../../audit/port.ts";
import type { Caller } from "../service.ts";
import { type AttemptRow, newProof } from "./attempts.ts";
import { type ConsentOptions, exchangeFailed, isOf, requireProvider, startPending } from "./consent.ts";
import type { DeviceBegun, DevicePoll, DeviceState, NewDeviceConsent } from "./schema.ts";
import { storeTokens } from "./tokens.ts";

/** Of a code, at most. */
const longestMs = 3_600_000;

export type DeviceConsents = ReturnType<typeof createDeviceConsents>;

export function createDeviceConsents(options: ConsentOptions) {
  const { sql, records, attempts, providers, now, newId, warn } = options;

  /** The provider's answer to a poll; null: the person has yet to decide. */
  async function asked(attempt: AttemptRow): Promise<TokenAnswer | "denied" | "expired" | null> {
    const provider = requireProvider(providers, attempt.provider, "oauth_not_configured");
    try {
      return await pollDevice(provider, attempts.hiddenOf(attempt));
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      if (error.code === "slow_down") await attempts.slowDown(attempt);
      if (error.code === "expired_token") return "expired";
      if (error.isRefusal) return "denied";
      if (error.code === "invalid_answer") throw exchangeFailed();
      if (!["authorization_pending", "slow_down"].includes(error.code)) {
        warn("device_poll_failed", { tenant: attempt.tenant, provider: provider.name, why: error.code });
      }
      return null;
    }
  }

  /** The end of an attempt for nothing. */
  async function ended(attempt: AttemptRow, outcome: "denied" | "expired"): Promise<DeviceState> {
    await sql.begin(async (tx) => {
      await attempts.end(tx, attempt, outcome);
      await records.removePending(tx, attempt.tenant, attempt.credential_id);
    });
    return stateOf({ ...attempt, ended_at: new Date(now()), outcome });
  }

  async function approved(caller: Caller, attempt: AttemptRow, answer: TokenAnswer): Promise<DeviceState> {
    const { tenant, credential_id: id } = attempt;
    const isStored = await sql.begin(async (tx) => {
      const row = await records.find(tenant, id, tx, true);
      if (row === null || row.status === "revoked" || !(await attempts.end(tx, attempt, "approved"))) return false;
      await storeTokens(options, tx, row, answer, null, auditedBy(caller));
      return true;
    });
    return stateOf({ ...attempt, ended_at: new Date(now()), outcome: isStored ? "approved" : "revoked" });
  }

  return {
    /** @throws Problem 501 `provider_not_configured`, `oauth_not_configured`; 402; 502 `oauth_exchange_failed` */
    async begin(caller: Caller, body: NewDeviceConsent): Promise<DeviceBegun> {
      const { tenant, identity } = caller;
      const provider = requireProvider(providers, body.provider, "provider_not_configured");
      if (provider.deviceUrl === null) throw noDeviceFlow();
      const scopes = body.scopes ?? provider.scopes;
      const answer = await beginDevice(provider, scopes).catch((error: unknown) => {
        if (!(error instanceof OAuthFailure)) throw error;
        warn("device_consent_failed", { tenant, provider: provider.name, why: error.code });
        throw exchangeFailed();
      });
      const attempt = {
        id: newId(),
        tenant,
        kind: "device",
        provider: provider.name,
        realm: identity.realm,
        user_id: identity.userId,
        actor: auditedBy(caller).actor,
        redirect_uri: null,
        oauth_scopes: scopes,
        interval_s: answer.intervalSeconds,
        expires_at: new Date(now() + Math.min(longestMs, answer.lifetimeSeconds * 1000)),
        proof: newProof(),
        hidden: answer.deviceCode,
      } as const;
      const { label = null } = body;
      const kind = { tenant, provider: provider.name, label, scope: scopeOf(identity, tenant, null) };
      await startPending(options, caller, { ...kind, scopes }, (tx, credential_id) =>
        attempts.insert(tx, { ...attempt, credential_id }),
      );
      return {
        device_code: attempt.proof,
        user_code: answer.userCode,
        verification_uri: answer.verificationUri,
        verification_uri_complete: answer.verificationUriComplete,
        interval: answer.intervalSeconds,
        expires_at: attempt.expires_at.toISOString(),
      };
    },

    /**
     * Asks the provider, at most once an interval.
     * @throws Problem 501 `oauth_not_configured`, 404 `device_code_not_found`, 502 `oauth_exchange_failed`
     */
    async poll(caller: Caller, { provider: name, device_code }: DevicePoll): Promise<DeviceState> {
      const provider = requireProvider(providers, name, "oauth_not_configured");
      if (provider.deviceUrl === null) throw noDeviceFlow();
      const attempt = await attempts.find("device", device_code);
      if (attempt === null || attempt.provider !== provider.name || !isOf(attempt, caller)) {
        throw new Problem("device_code_not_found", "There is no such device code");
      }
      if (attempt.ended_at !== null) return stateOf(attempt);
      if (attempt.expires_at.getTime() <= now()) return ended(attempt, "expired");
      if (!(await attempts.takePoll(attempt))) return stateOf(attempt);
      const answer = await asked(attempt);
      if (answer === null) return stateOf((await attempts.find("device", device_code)) ?? attempt);
      return typeof answer === "string" ? ended(attempt, answer) : approved(caller, attempt, answer);
    },
  };
}

function stateOf({ ended_at, outcome, credential_id, interval_s }: AttemptRow): DeviceState {
  const interval = interval_s ?? 5;
  if (ended_at === null) return { status: "pending", credential_id: null, interval, reason: null };
  if (outcome === "approved") return { status: "approved", credential_id, interval, reason: null };
  return { status: "denied", credential_id: null, interval, reason: outcome };
}

const noDeviceFlow = (): Problem => new Problem("oauth_not_configured", "The provider has no device flow here");
