/** OAuth of credentials, put together: consents, refreshing, the end of tokens at the provider. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { OAuthFailure, type OAuthProvider, revokeToken } from "../../../adapters/oauth/port.ts";
import { repeatedly, waitAtMost } from "../../../lib/timers.ts";
import { auditedBy } from "../../audit/port.ts";
import { sealedAnswers } from "../../encryption/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { CredentialRow } from "../records.ts";
import type { Credential, Rotation } from "../schema.ts";
import { type Caller, requireRotatable } from "../service.ts";
import { storedTokens } from "../values.ts";
import { credentialBody } from "../wire.ts";
import { attemptRecords } from "./attempts.ts";
import { type ConsentOptions, createConsents, exchangeFailed } from "./consent.ts";
import { createDeviceConsents } from "./device.ts";
import { createRefreshing } from "./refresh.ts";
import { consentRoutes, deviceRoutes } from "./routes.ts";

export interface OAuthOptions extends Omit<ConsentOptions, "attempts"> {
  readonly incidents: Pick<Incidents, "report">;
  readonly successUrl: string;
}

const refreshEveryMs = 10_000;
const sweepEveryMs = 30_000;
/** Revocations that a node tells providers of at once; more are left to the tokens' own end. */
const mostRevocations = 1_000;
/** How long a node that stops waits for what it tells providers. */
const closingMs = 5_000;

export function openOAuth(options: OAuthOptions) {
  const { sql, encryption, credentials, providers, successUrl, newId, warn } = options;
  const attempts = attemptRecords(sql, encryption);
  const consents = createConsents({ ...options, attempts });
  const devices = createDeviceConsents({ ...options, attempts });
  const refreshing = createRefreshing(options);
  const served = { sql, providers, seal: sealedAnswers(encryption), newId };
  const revocations = new Set<Promise<void>>();

  /** Asks the provider to end what was stored; the refresh token ends the whole grant. */
  async function revokeAt(provider: OAuthProvider, row: CredentialRow): Promise<void> {
    try {
      const tokens = storedTokens(encryption, row);
      if (tokens === null) return;
      const { accessToken, refreshToken } = tokens;
      await revokeToken(
        provider,
        refreshToken ?? accessToken,
        refreshToken === null ? "access_token" : "refresh_token",
      );
    } catch (error) {
      const why = error instanceof OAuthFailure ? error.code : "unreadable";
      warn("credential_revocation_failed", { tenant: row.tenant, credential: row.id, provider: provider.name, why });
    }
  }

  return {
    consents,
    refreshing,
    routes: [...consentRoutes({ ...served, consents, successUrl }), ...deviceRoutes({ ...served, devices })],

    /** By a caller: tokens are refreshed, other values replaced. @throws Problem as `rotateKey`; 502 */
    async rotate(caller: Caller, id: string, body: Rotation): Promise<Credential> {
      const row = await credentials.managed(caller, id);
      const given = [body.new_value, body.value, body.provider_params];
      if (row.credential_type !== "oauth2" || given.some((member) => member !== undefined && member !== null)) {
        return credentials.rotateKey(caller, id, body);
      }
      requireRotatable(row);
      const outcome = await refreshing.atOnce(row.tenant, id, auditedBy(caller), row.version);
      if (outcome === "none") {
        throw new Problem("invalid_state", "There is no refresh token: a new consent is needed", {
          status: row.status,
        });
      }
      if (outcome !== "refreshed") throw exchangeFailed();
      return credentialBody(await credentials.find(caller, id));
    },

    /** Tells the provider that a credential was revoked, in the background. Never throws. */
    revoked(row: CredentialRow): void {
      const provider = row.credential_type === "oauth2" ? providers.get(row.provider) : undefined;
      if (provider === undefined) return;
      if (revocations.size >= mostRevocations) {
        warn("credential_revocation_failed", { tenant: row.tenant, credential: row.id, why: "too_many" });
        return;
      }
      const telling = revokeAt(provider, row).finally(() => revocations.delete(telling));
      revocations.add(telling);
    },

    startRefreshing: () =>
      repeatedly(refreshEveryMs, refreshing.round, (error) =>
        warn("credential_refresh_failed", { error: String(error) }),
      ),
    startSweep: () =>
      repeatedly(
        sweepEveryMs,
        async () => {
          await refreshing.expire();
          await attempts.sweep();
        },
        (error) => warn("credential_sweep_failed", { error: String(error) }),
      ),
    queues: [{ name: "credential_revocations", depth: () => revocations.size }],
    close: () => waitAtMost(closingMs, Promise.all(revocations)),
  };
}
