/** What daemons ask for by a proof of their own: to enroll, and to rotate their keys. */
import { Value } from "@sinclair/typebox/value";
import { compactVerify, decodeProtectedHeader } from "jose";
import { readBase64, readEdgeKey } from "../../../../actors/edge/base64.ts";
import { EnrollmentClaims, redemption, rotationWindowSeconds } from "../../../../actors/edge/enrollment.ts";
import { enrollmentMessage, rotationMessage } from "../../../../actors/edge/signing.ts";
import { Problem, type ProblemCode } from "../../../../actors/kernel/problem.ts";
import type { PublicCall } from "../../../http/route.ts";
import { requireOpen } from "../../../identity/tenants/teams.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { ed25519Key, isSigned } from "../../../lib/ed25519.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { auditedRequest, auditedSystem } from "../../audit/port.ts";
import type { SigningKeys } from "../../encryption/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import { type HostRow, type Hosts, hostName } from "../hosts/port.ts";
import type { TokenRecords } from "./records.ts";
import type { EnrollBody, Enrolled, RotatedKey, RotateKeyBody } from "./schema.ts";
import { digestOf, factsOf } from "./tokens.ts";

type Request = Pick<PublicCall<unknown, unknown, unknown, unknown>, "request" | "requestId" | "address">;

export interface DaemonsOptions {
  readonly sql: Sql;
  readonly records: TokenRecords;
  readonly keys: Pick<SigningKeys, "find" | "held">;
  readonly hosts: Pick<Hosts, "admit" | "admitted" | "redeemed" | "live" | "setNextKey">;
  readonly tenants: Pick<Tenants, "find">;
  readonly incidents: Pick<Incidents, "report">;
  /** Unix ms by PostgreSQL's clock. */
  readonly databaseNow: () => number;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export type Daemons = ReturnType<typeof createDaemons>;

const refusals = {
  enrollment_token_expired: "The token has expired",
  enrollment_token_revoked: "The token was revoked",
  token_redeemed: "Another key has redeemed the token",
} as const satisfies Partial<Record<ProblemCode, string>>;

export function createDaemons(options: DaemonsOptions) {
  const { sql, records, keys, hosts, tenants, incidents, databaseNow, info } = options;

  /** @throws Problem 401 `invalid_enrollment_token`; when it holds is not looked at */
  async function read(token: string): Promise<EnrollmentClaims> {
    try {
      const { kid = "", alg } = decodeProtectedHeader(token);
      const key = alg === "EdDSA" ? await keys.find(kid) : null;
      if (key !== null) {
        const { payload } = await compactVerify(token, key, { algorithms: ["EdDSA"] });
        const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
        if (Value.Check(EnrollmentClaims, claims)) return claims;
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
    throw invalidToken();
  }

  return {
    /**
     * @throws Problem 401 `invalid_enrollment_token`, `invalid_proof`; 402; 403; 409 `token_redeemed`, `key_in_use`;
     *   410 `enrollment_token_expired`, `enrollment_token_revoked`
     */
    async enroll(request: Request, body: EnrollBody): Promise<Enrolled> {
      const claims = await read(body.token);
      const publicKey = readBase64(body.public_key, 32);
      const proved = enrollmentMessage(body.public_key, sha256Hex(body.token));
      if (publicKey === null || !proves(body.public_key, proved, body.signature)) throw invalidProof();
      const { tid: tenant, jti: id } = claims;
      const asked = body.name === undefined ? null : hostName(body.name);
      const owner = await tenants.find(tenant);
      if (owner === null) throw invalidToken();
      requireOpen(owner, false);
      const now = databaseNow();
      const by = { ...auditedSystem("edge daemon"), ...auditedRequest(request) };
      const { host, isNew } = (await sql.begin(async (tx) => {
        const row = await records.lockByDigest(tx, tenant, id, digestOf(body.token));
        if (row === null || claims.nbf * 1000 > now) throw invalidToken();
        const outcome = redemption(factsOf(row), body.public_key, now);
        if (outcome === "again") {
          const host = await hosts.redeemed(tx, tenant, publicKey);
          if (host === null) throw new Problem("key_in_use", "The key is or was another host's");
          return { host, isNew: false };
        }
        if (outcome !== "first") {
          const isStolen = row.redeemed_key !== null && !row.redeemed_key.equals(publicKey);
          if (isStolen) report(tenant, id, row.host_id, request.address);
          throw new Problem(outcome, refusals[outcome]);
        }
        const host = await hosts.admit(tx, {
          ...{ tenant, publicKey, by },
          names: [row.name, asked],
          tags: row.tags,
          createdBy: row.issued_by,
          agentVersion: body.agent_version ?? null,
        });
        await records.redeem(tx, id, publicKey, host.id);
        return { host, isNew: true };
      })) as { readonly host: HostRow; readonly isNew: boolean };
      if (isNew) {
        info("edge_host_enrolled", { tenant, node_id: host.id });
        hosts.admitted(host);
      }
      return {
        node_id: host.id,
        id: host.id,
        tenant_id: tenant,
        name: host.name,
        tags: [...host.tags],
        key_fingerprint: sha256Hex(publicKey),
        connect_url: `${claims.url.replace(/^http/, "ws")}/v1/edge/connect`,
        service_keys: (await keys.held()).map(({ kid, publicKey }) => ({ kid, public_key: publicKey })),
        enrolled_at: host.enrolled_at.toISOString(),
      };
    },

    /** @throws Problem 401 `invalid_proof`, 409 `key_in_use`, 429 */
    async rotate(request: Request, body: RotateKeyBody): Promise<RotatedKey> {
      const id = body.node_id.toLowerCase();
      const newKey = readBase64(body.new_public_key, 32);
      const message = rotationMessage(id, body.new_public_key, body.issued_at);
      const isFresh = Math.abs(databaseNow() / 1000 - body.issued_at) <= rotationWindowSeconds;
      if (newKey === null || !isFresh || !proves(body.new_public_key, message, body.signature_new))
        throw invalidProof();
      await sql.begin(async (tx) => {
        const host = await hosts.live(tx, id);
        const current = host?.public_key.toString("base64") ?? "";
        if (host === null || !proves(current, message, body.signature_old)) throw invalidProof();
        await hosts.setNextKey(tx, host, newKey, { ...auditedSystem("edge daemon"), ...auditedRequest(request) });
      });
      return { node_id: id, key_fingerprint: sha256Hex(newKey), pending: true };
    },
  };

  function report(tenant: string, tokenId: string, hostId: string | null, address: string | null): void {
    incidents.report({
      category: "edge_token_reused",
      tenant,
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: null,
      violationType: "token_redeemed",
      details: { node_id: hostId, name: null, token_id: tokenId, address },
    });
  }
}

/** Whether the text is signed by the key; false also for a key or a signature that is none. */
function proves(publicKey: string, message: string, signature: string): boolean {
  const key = readEdgeKey(publicKey);
  const bytes = readBase64(signature, 64);
  return key !== null && bytes !== null && isSigned(ed25519Key(key), [message], bytes);
}

/** Of texts that are no token of this service; failures of the stores are none of them. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error instanceof TypeError && !("code" in error && String(error.code).startsWith("E"))) ||
  (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_J"));

const invalidToken = () => new Problem("invalid_enrollment_token", "The token is none of this service's");
const invalidProof = () => new Problem("invalid_proof", "The signature does not prove the key");
