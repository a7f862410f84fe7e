/** Consents by redirect: authorization code with PKCE (docs/reference/credentials.md). */

import { scopeOf } from "../../../../actors/credential/ownership.ts";
import { isRedirectAllowed } from "../../../../actors/credential/redirect.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import {
  authorizationUrl,
  exchangeCode,
  newVerifier,
  OAuthFailure,
  type OAuthProvider,
  type TokenAnswer,
} from "../../../adapters/oauth/port.ts";
import type { Call } from "../../../http/route.ts";
import { requireActive, type Tenants } from "../../../identity/tenants/tenants.ts";
import { type AuditedBy, auditedBy } from "../../audit/port.ts";
import type { CredentialRow } from "../records.ts";
import type { Caller, CredentialOptions, CredentialService } from "../service.ts";
import { type AttemptRow, type Attempts, newProof } from "./attempts.ts";
import type { Begun, CallbackFields, Completed, NewConsent } from "./schema.ts";
import { storeTokens } from "./tokens.ts";

export interface ConsentOptions extends Omit<CredentialOptions, "revoked"> {
  readonly credentials: CredentialService;
  readonly attempts: Attempts;
  readonly providers: ReadonlyMap<string, OAuthProvider>;
  readonly tenants: Pick<Tenants, "status">;
  readonly publicUrl: string;
  readonly newId: () => string;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const consentMs = 10 * 60_000;

/** What a page tells the person whose consent it completes. */
export interface OpenConsent {
  readonly provider: string;
  readonly initiator: string;
  readonly tenant: string;
}

export type Consents = ReturnType<typeof createConsents>;

export function createConsents(options: ConsentOptions) {
  const { sql, records, attempts, providers, tenants, publicUrl, now, newId, warn } = options;
  const ownCallback = `${publicUrl}/v1/credentials/oauth/callback`;

  /**
   * A consent that can still be completed.
   * @param by who asks; null: it is not told
   * @throws Problem 400 `invalid_state`, 410 `state_expired`, 403 where the tenant is closed
   */
  async function openOf(fields: CallbackFields, by: Pick<Call, "identity" | "tenant"> | null) {
    const attempt = await attempts.find("code", fields.state);
    if (attempt === null || (by !== null && !isOf(attempt, by))) throw invalidState();
    const provider = providers.get(attempt.provider);
    if (provider === undefined || (fields.iss !== undefined && fields.iss !== provider.issuer)) throw invalidState();
    if (attempt.outcome === "expired" || (attempt.ended_at === null && attempt.expires_at.getTime() <= now())) {
      throw new Problem("state_expired", "The consent was begun too long ago");
    }
    if (attempt.ended_at !== null) throw invalidState();
    requireActive((await tenants.status(attempt.tenant)) ?? "deleted");
    return { attempt, provider };
  }

  /** Uses the state up for nothing. */
  async function abandon(attempt: AttemptRow): Promise<void> {
    await sql.begin(async (tx) => {
      if (await attempts.end(tx, attempt, "denied"))
        await records.removePending(tx, attempt.tenant, attempt.credential_id);
    });
  }

  /** @throws Problem 502 `oauth_exchange_failed` */
  async function exchanged(attempt: AttemptRow, provider: OAuthProvider, code: string): Promise<TokenAnswer> {
    const verifier = attempts.hiddenOf(attempt);
    if (!(await attempts.end(sql, attempt, "approved"))) throw invalidState();
    try {
      return await exchangeCode(provider, { code, redirectUri: attempt.redirect_uri ?? ownCallback, verifier });
    } catch (error) {
      await attempts.failed(attempt);
      await records.removePending(sql, attempt.tenant, attempt.credential_id);
      if (!(error instanceof OAuthFailure)) throw error;
      warn("oauth_exchange_failed", { tenant: attempt.tenant, provider: provider.name, why: error.code });
      throw exchangeFailed();
    }
  }

  return {
    /** @throws Problem 501 `provider_not_configured`; 402, 403, 422 */
    async begin(caller: Caller, body: NewConsent): Promise<Begun> {
      const { tenant, identity } = caller;
      const provider = requireProvider(providers, body.provider, "provider_not_configured");
      const { redirect_uri: redirectUri = ownCallback, label = null } = body;
      if (!isRedirectAllowed(redirectUri, [ownCallback, ...provider.redirectUris])) {
        throw new Problem("redirect_uri_not_allowed", "The provider is not configured with this redirect_uri");
      }
      const scopes = body.scopes ?? provider.scopes;
      const attempt = {
        id: newId(),
        tenant,
        kind: "code",
        provider: provider.name,
        realm: identity.realm,
        user_id: identity.userId,
        actor: auditedBy(caller).actor,
        redirect_uri: redirectUri,
        oauth_scopes: scopes,
        interval_s: null,
        expires_at: new Date(now() + consentMs),
        proof: newProof(),
        hidden: newVerifier(),
      } as const;
      const kind = { tenant, provider: provider.name, label, scope: scopeOf(identity, tenant, body.scope ?? null) };
      const credentialId = await startPending(options, caller, { ...kind, scopes }, (tx, credential_id) =>
        attempts.insert(tx, { ...attempt, credential_id }),
      );
      const asked = { redirectUri, scopes, state: attempt.proof, verifier: attempt.hidden };
      const url = await authorizationUrl(provider, asked);
      return {
        auth_url: url,
        authorization_url: url,
        state_token: attempt.proof,
        state: attempt.proof,
        expires_at: attempt.expires_at.toISOString(),
        credential_id: credentialId,
      };
    },

    /** What a page shows before its form completes the consent. The provider's refusal uses the state up. */
    async show(fields: CallbackFields): Promise<OpenConsent> {
      const { attempt } = await openOf(fields, null);
      if (fields.error !== undefined) {
        await abandon(attempt);
        throw denied();
      }
      const { provider, actor, user_id, tenant } = attempt;
      return { provider, initiator: actor.name ?? user_id, tenant };
    },

    /**
     * @param by    null: a browser, by the state alone
     * @param asked what the audit log tells of the request; its actor is who began the consent
     * @throws Problem 400 `invalid_state`, `oauth_denied`; 410 `state_expired`; 502 `oauth_exchange_failed`
     */
    async complete(
      fields: CallbackFields,
      by: Pick<Call, "identity" | "tenant"> | null,
      asked: Omit<AuditedBy, "actor">,
    ): Promise<Completed> {
      const { attempt, provider } = await openOf(fields, by);
      if (fields.error !== undefined) {
        await abandon(attempt);
        throw denied();
      }
      if (fields.code === undefined) throw invalidField("code", "is required");
      const answer = await exchanged(attempt, provider, fields.code);
      const { tenant, credential_id: id } = attempt;
      await sql.begin(async (tx) => {
        const row = await records.find(tenant, id, tx, true);
        // Revoked or removed meanwhile.
        if (row === null || row.status === "revoked") throw invalidState();
        await storeTokens(options, tx, row, answer, null, { actor: attempt.actor, ...asked });
      });
      return { id, credential_id: id, status: "active", provider: provider.name, stored: true };
    },
  };
}

interface WantedPending extends Pick<CredentialRow, "tenant" | "provider" | "label" | "scope"> {
  readonly scopes: readonly string[];
}

/**
 * The credential that a consent is for: the caller's expired one of the same provider, label and scope, or a new one that
 * waits for it.
 * @param begun called in the transaction that makes it
 * @returns its id
 */
export async function startPending(
  { sql, records, credentials, newId }: Pick<ConsentOptions, "sql" | "records" | "credentials" | "newId">,
  caller: Caller,
  { scopes, ...kind }: WantedPending,
  begun: (tx: Parameters<Attempts["insert"]>[0], credentialId: string) => Promise<void>,
): Promise<string> {
  const { identity } = caller;
  const owned = { ...kind, realm: identity.realm, user_id: identity.userId };
  const expired = await records.expiredOf(owned, sql);
  if (expired !== null) {
    await sql.begin((tx) => begun(tx, expired.id));
    return expired.id;
  }
  const id = newId();
  await credentials.create(
    caller,
    {
      ...owned,
      id,
      credential_type: "oauth2",
      status: "pending_oauth",
      metadata: {},
      oauthScopes: scopes,
      ciphertext: null,
      expiresAt: null,
    },
    (tx) => begun(tx, id),
  );
  return id;
}

/** @throws Problem 501 */
export function requireProvider(
  providers: ReadonlyMap<string, OAuthProvider>,
  name: string,
  code: "provider_not_configured" | "oauth_not_configured",
): OAuthProvider {
  const provider = providers.get(name.toLowerCase());
  if (provider === undefined) throw new Problem(code, "There is no such OAuth provider here");
  return provider;
}

/** Whether the one who asks began it. */
export const isOf = (attempt: AttemptRow, { identity, tenant }: Pick<Call, "identity" | "tenant">): boolean =>
  attempt.tenant === tenant && attempt.realm === identity.realm && attempt.user_id === identity.userId;

const invalidState = (): Problem =>
  new Problem("invalid_state", "The state is unknown, was used, or belongs to another user", {}, {}, 400);
const denied = (): Problem => new Problem("oauth_denied", "The provider, or the person there, refused");
export const exchangeFailed = (): Problem =>
  new Problem("oauth_exchange_failed", "The provider gave no tokens", {}, {});
