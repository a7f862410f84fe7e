/** An agent's row and its versions, inside the transaction that changes them. */

import { agentEvent, changeStatus, type Ownership } from "../../../actors/agent/lifecycle.ts";
import type { referencesOfAgent } from "../../../actors/agent/manifest/references.ts";
import type { AgentSpec } from "../../../actors/agent/manifest/spec.ts";
import type { Starter } from "../../../actors/identity/starter.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { joinedCeilings } from "../../../actors/policy/ceilings.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Transaction } from "../../store/postgres/pool.ts";
import type { AgentEvents } from "./events.ts";
import type { AgentStatus } from "./schema.ts";

/** A version about to be stored. */
export interface NewVersion {
  readonly version_id: string;
  readonly spec: AgentSpec;
  /** The document exactly as deployed. */
  readonly document: Json;
  readonly yaml: string;
  readonly deployed_by: string;
  /** Whose subject that is. */
  readonly deployed_realm: string;
  /** The same with its permissions: a schedule starts the agent for it. */
  readonly deployer: Starter;
  /** Of a tool call: security contexts that bind what it deploys; null: a user deploys. */
  readonly ceilings: readonly string[] | null;
  readonly at: Date;
}

/** An agent, locked against changes by others until the transaction ends. */
export interface LockedAgent extends Ownership {
  readonly agent_id: string;
  readonly name: string;
  readonly status: AgentStatus;
  readonly current_version_id: string;
  readonly previous_version_id: string | null;
  /** Of the current version. */
  readonly version: string;
  readonly revision: number;
  /** Of the current version; null: none. */
  readonly context_ceilings: readonly string[] | null;
}

export interface VersionKey {
  readonly version_id: string;
  readonly version: string;
  readonly revision: number;
}

/** The current version, as far as what replaces it has to know it. */
interface CurrentVersion extends VersionKey {
  readonly context_ceilings: readonly string[] | null;
}

type Row = Omit<LockedAgent, "version" | "revision" | "context_ceilings">;

/** By name within one tenant, whose it must be. */
export async function lockByName(sql: Transaction, tenant: string, name: string): Promise<LockedAgent | null> {
  return withVersion(
    sql,
    await sql<Row[]>`
      select agent_id, tenant, name, scope, status, origin_tenant, current_version_id, previous_version_id from agents
      where tenant = ${tenant} and name = ${name} and deleted_at is null
      for update`,
  );
}

/** By id, as far as the tenant sees it: its own and the global ones. */
export async function lockVisible(sql: Transaction, tenant: string, agentId: string): Promise<LockedAgent | null> {
  return withVersion(
    sql,
    await sql<Row[]>`
      select agent_id, tenant, name, scope, status, origin_tenant, current_version_id, previous_version_id from agents
      where agent_id = ${agentId} and deleted_at is null and (tenant = ${tenant} or scope = 'global')
      for update`,
  );
}

/** Read after the lock is held: a join would show the version that was current before the wait for it. */
async function withVersion(sql: Transaction, [row]: readonly Row[]): Promise<LockedAgent | null> {
  if (row === undefined) return null;
  const [current] = await sql<CurrentVersion[]>`
    select version_id, version, revision, context_ceilings from agent_versions where version_id = ${row.current_version_id}`;
  if (current === undefined) return null;
  const { version, revision, context_ceilings } = current;
  return { ...row, version, revision, context_ceilings };
}

/** @param revision null: the latest */
export async function findVersion(
  sql: Transaction,
  agentId: string,
  version: string,
  revision: number | null,
): Promise<VersionKey | null> {
  const [row] = await sql<VersionKey[]>`
    select version_id, version, revision from agent_versions
    where agent_id = ${agentId} and version = ${version} ${revision === null ? sql`` : sql`and revision = ${revision}`}
    order by revision desc limit 1`;
  return row ?? null;
}

export async function findVersionById(
  sql: Transaction,
  agentId: string,
  versionId: string,
): Promise<VersionKey | null> {
  const [row] = await sql<VersionKey[]>`
    select version_id, version, revision from agent_versions
    where agent_id = ${agentId} and version_id = ${versionId}`;
  return row ?? null;
}

export async function insertVersion(
  sql: Transaction,
  { agent_id, tenant }: { readonly agent_id: string; readonly tenant: string },
  revision: number,
  { version_id, spec, document, yaml, deployed_by, deployed_realm, deployer, ceilings, at }: NewVersion,
): Promise<void> {
  const { metadata, input_schema } = spec;
  await sql`
    insert into agent_versions (version_id, agent_id, tenant, version, revision, agent_type, labels, metadata,
      input_schema, document, manifest_yaml, spec, deployed_at, deployed_by, deployed_realm, deployer, context_ceilings)
    values (${version_id}, ${agent_id}, ${tenant}, ${metadata.version}, ${revision}, ${metadata.agent_type},
      ${JSON.stringify(metadata.labels)}::text::jsonb, ${JSON.stringify(metadata)}::text::json,
      ${input_schema === null ? null : JSON.stringify(input_schema)}::text::json, ${JSON.stringify(document)}::text::json,
      ${yaml}, ${JSON.stringify(spec)}::text::json, ${at}, ${deployed_by},
      ${deployed_realm}, ${JSON.stringify(deployer)}::text::jsonb,
      ${ceilings === null || ceilings.length === 0 ? null : texts(ceilings)}::text[])`;
}

/**
 * A version as it replaces another one: a tool call adds its ceilings to those of what it replaces, a user ends them.
 * @throws Problem 422 `too_many_ceilings`
 */
export function asReplacing(
  fresh: NewVersion,
  { context_ceilings }: Pick<LockedAgent, "context_ceilings">,
): NewVersion {
  if (fresh.ceilings === null) return fresh;
  const ceilings = joinedCeilings(fresh.ceilings, context_ceilings ?? []);
  if (ceilings instanceof Problem) throw ceilings;
  return { ...fresh, ceilings };
}

/** What an agent's versions refer by, and whether they open directories of the host, each once. @param versionId null: of all of them */
export async function referringOf(
  sql: Transaction,
  agentId: string,
  versionId: string | null,
): Promise<readonly (Parameters<typeof referencesOfAgent>[0] & { readonly opensHost: boolean })[]> {
  const rows = await sql<{ env: string; registry_credentials: string | null; opens_host: boolean }[]>`
    select distinct coalesce(spec->'env', '{}')::text as env,
      spec->'runtime'->>'registry_credentials' as registry_credentials,
      jsonb_path_exists(coalesce(spec->'volumes', '[]')::jsonb, '$[*].host_path') as opens_host
    from agent_versions where agent_id = ${agentId} and (${versionId}::uuid is null or version_id = ${versionId})`;
  return rows.map(({ env, registry_credentials, opens_host }) => ({
    env: JSON.parse(env) as AgentSpec["env"],
    runtime: { registry_credentials },
    opensHost: opens_host,
  }));
}

/** The version that was current is remembered for a rollback. */
export async function makeCurrent(sql: Transaction, agentId: string, versionId: string, at: Date): Promise<void> {
  await sql`
    update agents
    set previous_version_id = current_version_id, current_version_id = ${versionId}, updated_at = ${at}
    where agent_id = ${agentId}`;
}

/**
 * Gives the agent a status it does not have, and tells so.
 * @throws Problem 409 `agent_archived`
 */
export async function moveTo(
  sql: Transaction,
  events: AgentEvents,
  agent: Pick<LockedAgent, "agent_id" | "name" | "version" | "tenant" | "status">,
  status: AgentStatus,
  at: Date,
): Promise<void> {
  const { event } = changeStatus(agent.status, status);
  await sql`update agents set status = ${status}, updated_at = ${at} where agent_id = ${agent.agent_id}`;
  if (event !== null) await events.note(sql, agent.tenant, agent.agent_id, agentEvent(event, agent, at));
}

/** Creations and moves into one tenant take turns: what is counted or free must still be so when they commit. */
export async function takeTurn(sql: Transaction, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`agents ${tenant}`}, 0))`;
}

/** The agent of that name in the tenant, or null. */
export async function idByName(sql: Transaction, tenant: string, name: string): Promise<string | null> {
  const [row] = await sql<{ agent_id: string }[]>`
    select agent_id from agents where tenant = ${tenant} and name = ${name} and deleted_at is null`;
  return row?.agent_id ?? null;
}
