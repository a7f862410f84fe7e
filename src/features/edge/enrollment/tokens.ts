/** Enrollment tokens for people: issued, listed, revoked. */
import { SignJWT } from "jose";
import {
  enrollmentAudience,
  enrollmentIssuer,
  type TokenFacts,
  tokenStatus,
} from "../../../../actors/edge/enrollment.ts";
import { tagSet } from "../../../../actors/edge/tags.ts";
import { asMember } from "../../../../actors/identity/scopes.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { Call } from "../../../http/route.ts";
import type { Members } from "../../../identity/callers/members.ts";
import { requireOpen } from "../../../identity/tenants/teams.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { SigningKeys } from "../../encryption/port.ts";
import { type Hosts, hostName } from "../hosts/port.ts";
import type { TokenRecords, TokenRow } from "./records.ts";
import type { EnrollmentToken, IssuedToken, NewToken } from "./schema.ts";

type Caller = Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address" | "url">;

export const enrollScope = "aegis.edge.enroll";
/** Of one tenant. They live for minutes: further ones can be issued soon. */
const maxOutstanding = 1000;

export interface TokensOptions {
  readonly sql: Sql;
  readonly records: TokenRecords;
  readonly keys: Pick<SigningKeys, "current">;
  readonly hosts: Pick<Hosts, "requireRoom">;
  readonly tenants: Pick<Tenants, "find">;
  readonly members: Pick<Members, "find">;
  readonly audit: Pick<Audit, "append">;
  /** Where daemons reach the service; null: where the request that issues a token came to. */
  readonly publicUrl: string | null;
  /** Unix ms by PostgreSQL's clock. */
  readonly databaseNow: () => number;
}

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens(options: TokensOptions) {
  const { sql, records, keys, hosts, tenants, members, audit, publicUrl, databaseNow } = options;

  /**
   * The tenant that the host will be of.
   * @throws Problem 402, 403 `not_a_team_admin`, `insufficient_scope`, `tenant_suspended`
   */
  async function tenantFor({ identity, tenant }: Caller, team: string | undefined): Promise<string> {
    if (team === undefined) return tenant;
    const slug = `t-${team.replace(/^t-/, "").toLowerCase()}`;
    const role = await members.find(slug, identity);
    if (role === null || role === "member")
      throw new Problem("not_a_team_admin", "The caller neither owns nor administers that team");
    if (!asMember(identity, role).scopes.has(enrollScope))
      throw new Problem("insufficient_scope", "The credential does not open this", { required: enrollScope });
    const found = await tenants.find(slug);
    if (found === null) throw new Problem("not_a_team_admin", "The caller neither owns nor administers that team");
    requireOpen(found, false);
    return slug;
  }

  return {
    /**
     * @param id with the same one the text that was never sent is replaced
     * @throws Problem 402 `quota_exceeded`, 403 `not_a_team_admin`, 422, 429 `quota_exceeded`
     */
    async issue(caller: Caller, id: string, body: NewToken): Promise<IssuedToken> {
      const { identity } = caller;
      const given = body.name ?? body.issued_to;
      const name = given === undefined ? null : hostName(given, body.name === undefined ? "issued_to" : "name");
      const tags = tagSet(body.tags ?? []);
      const tenant = await tenantFor(caller, body.team_tenant_id);
      await hosts.requireRoom(tenant);
      const now = databaseNow();
      const issuedAt = Math.floor(now / 1000);
      const expiresAt = issuedAt + body.ttl_seconds;
      const url = publicUrl ?? caller.url.origin;
      const { kid, key, publicKey } = await keys.current();
      const token = await new SignJWT({
        tid: tenant,
        ...(name === null ? {} : { name }),
        cep: endpointOf(url),
        url,
        skt: sha256Hex(Buffer.from(publicKey, "base64")),
      })
        .setProtectedHeader({ typ: "JWT", alg: "EdDSA", kid })
        .setJti(id)
        .setSubject(identity.userId)
        .setAudience(enrollmentAudience)
        .setIssuer(enrollmentIssuer)
        .setNotBefore(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      const row = {
        ...{ id, tenant, name, tags },
        issued_by: `${identity.realm}/${identity.userId}`,
        issued_at: new Date(now),
        expires_at: new Date(expiresAt * 1000),
      };
      await sql.begin(async (tx) => {
        if ((await records.countOutstanding(tx, tenant, now)) >= maxOutstanding) throw tooMany();
        const isNew = await records.insert(tx, row, digestOf(token));
        if (!isNew) return;
        await audit.append(tx, auditedBy(caller), {
          tenant,
          action: "edge.token_issued",
          target: { type: "edge_enrollment_token", id },
          details: { tags: [...tags], expires_at: row.expires_at.toISOString() },
        });
      });
      return {
        ...{ id, token, name, tags: [...tags], tenant_id: tenant },
        expires_at: row.expires_at.toISOString(),
        controller_endpoint: endpointOf(url),
        controller_url: url,
        qr_payload: `svc-edge-enroll://${token}`,
        command_hint: `svc edge enroll ${token}`,
      };
    },

    async list(
      tenant: string,
      status: EnrollmentToken["status"] | null,
      page: Page,
    ): Promise<List<"enrollment_tokens", EnrollmentToken>> {
      const now = databaseNow();
      const rows = await records.list(tenant, status, now, page);
      const items = rows.map((row) => tokenBody(row, now));
      return listOf("enrollment_tokens", items, page, ({ issued_at, id }) => [String(Date.parse(issued_at)), id]);
    },

    /** @throws Problem 404 `enrollment_token_not_found`, 409 `token_redeemed` */
    async revoke(caller: Caller, id: string): Promise<void> {
      const { tenant } = caller;
      await sql.begin(async (tx) => {
        const row = await records.lock(tx, tenant, id);
        if (row === null) throw new Problem("enrollment_token_not_found", "Enrollment token not found");
        if (row.redeemed_at !== null) throw new Problem("token_redeemed", "The token has enrolled a host");
        if (row.revoked_at !== null) return;
        await records.revoke(tx, tenant, id);
        await audit.append(tx, auditedBy(caller), {
          tenant,
          action: "edge.token_revoked",
          target: { type: "edge_enrollment_token", id },
          details: {},
        });
      });
    },
  };
}

/** What is stored of a token's text. */
export const digestOf = (token: string): Uint8Array => Buffer.from(sha256Hex(token), "hex");

export const factsOf = (row: Pick<TokenRow, "expires_at" | "revoked_at" | "redeemed_key">): TokenFacts => ({
  expiresAt: row.expires_at.getTime(),
  isRevoked: row.revoked_at !== null,
  redeemedBy: row.redeemed_key?.toString("base64") ?? null,
});

function tokenBody(row: TokenRow, now: number): EnrollmentToken {
  return {
    id: row.id,
    name: row.name,
    tags: [...row.tags],
    tenant_id: row.tenant,
    status: tokenStatus(factsOf(row), now),
    issued_by: row.issued_by,
    issued_at: row.issued_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    redeemed_at: row.redeemed_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    node_id: row.host_id,
  };
}

/** `host:port`, the port also where the scheme implies it. */
function endpointOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

const tooMany = () =>
  new Problem(
    "quota_exceeded",
    `At most ${maxOutstanding} enrollment tokens may be outstanding`,
    { quota: "edge_enrollment_tokens", limit: maxOutstanding },
    { "Retry-After": "60" },
    429,
  );
