/** Grants: which agents and workflows may use a credential. */
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { Agents } from "../agents/port.ts";
import { type Audit, auditedBy } from "../audit/port.ts";
import type { Definitions } from "../workflows/definitions/port.ts";
import type { Grant, NewGrant } from "./schema.ts";
import { auditedCredential, type Caller, type CredentialService, futureTime } from "./service.ts";
import { type GrantRow, grantBody } from "./wire.ts";

export interface GrantOptions {
  readonly sql: Sql;
  readonly credentials: Pick<CredentialService, "find" | "managed">;
  readonly agents: Pick<Agents, "identify">;
  readonly definitions: Definitions;
  readonly audit: Audit;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Live grants of one credential. */
const maxGrants = 500;

interface Target {
  readonly type: Grant["target"]["type"];
  /** Empty for all agents. */
  readonly value: string;
}

export type GrantService = ReturnType<typeof createGrants>;

export function createGrants({ sql, credentials, agents, definitions, audit, now }: GrantOptions) {
  const columns = sql`id, credential_id, target_type, target_value, created_by, created_at, expires_at`;
  const live = sql`ended_at is null and (expires_at is null or expires_at > now())`;

  /** What a request names, known to exist. @throws Problem 404 `agent_not_found`, `workflow_not_found`; 422 */
  async function targetOf(tenant: string, body: NewGrant): Promise<Target> {
    const { agent_id, workflow_name, target_type, target_value } = body;
    if ([agent_id, workflow_name, target_type].filter((member) => member !== undefined).length !== 1) {
      throw invalidField("target_type", "exactly one of agent_id, workflow_name and target_type is needed");
    }
    if (target_type === "all_agents") return { type: target_type, value: "" };
    if (target_type !== undefined && target_value === undefined) throw invalidField("target_value", "is required");
    if (workflow_name !== undefined || target_type === "workflow") {
      const ref = workflow_name ?? target_value ?? "";
      const { name } = await definitions.resolve({ tenant, ref, version: null });
      return { type: "workflow", value: name };
    }
    const agent = await agents.identify(tenant, agent_id ?? target_value ?? "");
    if (agent === null) throw new Problem("agent_not_found", "There is no such agent");
    return { type: "agent", value: agent };
  }

  async function existing(tx: Transaction, id: string, { type, value }: Target): Promise<GrantRow | null> {
    const [row] = await tx<GrantRow[]>`
      update credential_grants set confirmed_at = now()
      where credential_id = ${id} and target_type = ${type} and target_value = ${value} and ${live}
      returning ${columns}`;
    return row ?? null;
  }

  return {
    /** Live ones, oldest first. @throws Problem 404 `credential_not_found` */
    async list(caller: Caller, id: string): Promise<Grant[]> {
      await credentials.find(caller, id);
      const rows = await sql<GrantRow[]>`
        select ${columns} from credential_grants
        where tenant = ${caller.tenant} and credential_id = ${id} and ${live} order by created_at, id`;
      return rows.map(grantBody);
    },

    /**
     * The same target again is the grant that there is; what others deployed since it was made is covered then.
     * @throws Problem 402 `quota_exceeded`, 403 `not_credential_owner`, 404, 409 `credential_revoked`, 422
     */
    async grant(
      caller: Caller,
      id: string,
      grantId: string,
      body: NewGrant,
    ): Promise<{ grant: Grant; isNew: boolean }> {
      const { tenant } = caller;
      await credentials.managed(caller, id);
      const target = await targetOf(tenant, body);
      const expiresAt = futureTime("expires_at", body.expires_at, now());
      return sql.begin(async (tx) => {
        const credential = await credentials.managed(caller, id, tx, true);
        if (credential.status === "revoked") throw new Problem("credential_revoked", "The credential was revoked");
        const known = await existing(tx, id, target);
        if (known !== null) return { grant: grantBody(known), isNew: known.id === grantId };
        if (credential.grants_count >= maxGrants) {
          const extras = { quota: "max_grants", limit: maxGrants, used: credential.grants_count, tier: null };
          throw new Problem("quota_exceeded", `A credential may have ${maxGrants} grants`, extras);
        }
        const { actor } = auditedBy(caller);
        await tx`
          update credential_grants set ended_at = expires_at
          where credential_id = ${id} and ended_at is null and expires_at <= now()`;
        const [row] = await tx<GrantRow[]>`
          insert into credential_grants (id, tenant, credential_id, target_type, target_value, created_by, expires_at)
          values (${grantId}, ${tenant}, ${id}, ${target.type}, ${target.value},
            ${JSON.stringify(actor)}::text::jsonb, ${expiresAt})
          returning ${columns}`;
        if (row === undefined) throw new Error("the insert of a grant returned no row");
        const told = { grant_id: grantId, target_type: target.type, target_value: target.value };
        await audit.append(tx, auditedBy(caller), auditedCredential("granted", credential, told));
        return { grant: grantBody(row), isNew: true };
      });
    },

    /** Repeatable. @throws Problem 403 `not_credential_owner`, 404 `credential_not_found`, `not_found` */
    async end(caller: Caller, id: string, grantId: string): Promise<void> {
      await sql.begin(async (tx) => {
        const credential = await credentials.managed(caller, id, tx, true);
        const [row] = await tx<{ ended_at: Date | null }[]>`
          select ended_at from credential_grants
          where tenant = ${caller.tenant} and credential_id = ${id} and id = ${grantId}`;
        if (row === undefined) throw new Problem("not_found", "The credential has no such grant");
        if (row.ended_at !== null) return;
        await tx`
          update credential_grants set ended_at = now() where tenant = ${caller.tenant} and id = ${grantId}`;
        const told = auditedCredential("grant_revoked", credential, { grant_id: grantId });
        await audit.append(tx, auditedBy(caller), told);
      });
    },
  };
}
