/** The SQL of the tables `workflows` and `workflow_changes`, tenant first. */
import type { Fragment } from "postgres";
import { systemTenant } from "../../../../actors/identity/identity.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { WorkflowMetadata } from "../../../../actors/workflow/manifest/judged.ts";
import { isSemanticVersion, versionOrder } from "../../../../actors/workflow/version-order.ts";
import { isUuid } from "../../../http/route.ts";
import { gather } from "../../../store/gather.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Deployer } from "./deployer.ts";
import type { Scope } from "./schema.ts";

/**
 * Owner of what every tenant sees; no tenant can be called so. Global definitions show as the system tenant's; what
 * that tenant registers for itself is as much its own as any tenant's.
 */
export const globalOwner = "*";

export const ownerOf = (tenant: string, scope: Scope): string => (scope === "global" ? globalOwner : tenant);
export const scopeOf = (owner: string): Scope => (owner === globalOwner ? "global" : "tenant");
/** The tenant that answers for it. */
export const tenantOf = (owner: string): string => (owner === globalOwner ? systemTenant : owner);

export interface WorkflowRow {
  readonly workflow_id: string;
  /** Its owner: a tenant, or `globalOwner`. */
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly tags: string[];
  readonly input_schema: Json;
  readonly revision: string;
  readonly created_at: Date;
  readonly registered_at: Date;
  /** Versions of its name, of the same owner. */
  readonly versions_count: number;
}

export interface WorkflowDocumentRow extends WorkflowRow {
  readonly metadata: Json;
  readonly manifest_yaml: string;
}

export interface VersionRow extends WorkflowRow {
  readonly manifest_sha256: string;
  readonly is_latest: boolean;
}

export interface WorkflowFilter {
  /** Owners whose workflows are listed. */
  readonly owners: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly tag: string | null;
  /** A part of the name or the description. */
  readonly text: string | null;
  readonly allVersions: boolean;
}

/** A version as it is stored. */
export interface NewWorkflow
  extends Pick<WorkflowMetadata, "name" | "version" | "description" | "labels" | "annotations" | "tags"> {
  readonly metadata: Json;
  readonly inputSchema: Json;
  readonly manifestYaml: string;
  readonly manifestSha256: string;
  /** JSON. */
  readonly definition: string;
  readonly registeredBy: string;
  readonly registeredRealm: string;
  readonly deployer: Deployer;
  /** Security contexts that bind what its runs start beside their own; absent: none. */
  readonly ceilings?: readonly string[];
}

/** How a workflow is named: a UUID pins its version. */
export interface Reference {
  readonly ref: string;
  /** Null: the latest. */
  readonly version: string | null;
}

export interface Change {
  readonly type: "WorkflowRegistered" | "WorkflowScopeChanged" | "WorkflowRemoved";
  /** No owner: the tenant that answers for it. */
  readonly tenant: string;
  readonly workflowId: string;
  readonly name: string;
  readonly version: string;
  readonly actor: { readonly kind: string; readonly sub: string };
  readonly requestId: string | null;
  readonly details: Json;
}

interface Named {
  readonly tenant: string;
  readonly name: string;
}
const nameOf = ({ tenant, name }: Named): string => `${tenant} ${name}`;

/** What callers may run by name, as lists of tools show it. */
export interface OfferedRow {
  readonly name: string;
  readonly description: string | null;
  readonly input_schema: Json;
}

/** Which of them: one name, or those behind one; all without either. */
export interface Offered {
  readonly name?: string;
  readonly after?: string;
}

export interface Located {
  readonly workflow_id: string;
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  /** Security contexts that bind what its runs start; null: none. */
  readonly context_ceilings: readonly string[] | null;
  /** Null: it was registered before that was kept. */
  readonly deployer: Deployer | null;
}

const ownersOf = (tenant: string): string => texts([tenant, globalOwner]);

export type WorkflowRecords = ReturnType<typeof workflowRecords>;

export function workflowRecords(sql: Sql) {
  const columns = sql`w.workflow_id, w.tenant, w.name, w.version, w.description, w.labels, w.annotations, w.tags,
    w.input_schema, w.revision, w.created_at, w.registered_at,
    (select count(*)::int from workflows v where v.tenant = w.tenant and v.name = w.name) as versions_count`;

  /** The one row a reference means: the tenant's own before a global one, the latest before older ones. */
  function named(tenant: string, { ref, version }: Reference): Fragment {
    const among = isUuid(ref) ? sql`w.workflow_id = ${ref}` : sql`w.name = ${ref}`;
    const pinned = version === null ? sql`` : sql`and w.version = ${version}`;
    return sql`from workflows w where ${among} and w.tenant = any(${ownersOf(tenant)}::text[]) ${pinned}
      order by (w.tenant = ${tenant}) desc, w.version_order desc, w.created_at desc limit 1`;
  }

  /** The latest versions of names, for starts that come at once. With its limit it is planned once. */
  const latest = gather<Named, Located>(async (keys) => {
    const tenants = texts(keys.map(({ tenant }) => tenant));
    const rows = await sql<(Located & { place: number })[]>`
        select asked.place::int, found.* from (
            select * from unnest(${tenants}::text[], ${texts(keys.map(({ name }) => name))}::text[])
              with ordinality as u (tenant, name, place)
            limit cardinality(${tenants}::text[])) asked,
          lateral (select w.workflow_id, w.tenant, w.name, w.version, w.revision, w.context_ceilings, w.deployer
            from workflows w
            where w.name = asked.name and w.tenant in (asked.tenant, ${globalOwner})
            order by (w.tenant = asked.tenant) desc, w.version_order desc, w.created_at desc limit 1) as found`;
    return new Map(rows.map(({ place, ...row }) => [nameOf(keys[place - 1] as Named), row]));
  }, nameOf);

  return {
    /** What a run of it begins with: identity only, so that the definition is read once. */
    async locate(tenant: string, reference: Reference): Promise<Located | null> {
      const { ref, version } = reference;
      if (version === null && !isUuid(ref)) return ref.includes("\0") ? null : latest({ tenant, name: ref });
      const [row] = await sql<
        Located[]
      >`select w.workflow_id, w.tenant, w.name, w.version, w.revision, w.context_ceilings, w.deployer ${named(tenant, reference)}`;
      return row ?? null;
    },

    async definition(workflowId: string, revision: string): Promise<string | null> {
      const [row] = await sql<{ definition: string }[]>`
        select definition from workflows where workflow_id = ${workflowId} and revision = ${revision}`;
      return row?.definition ?? null;
    },

    async find(tenant: string, reference: Reference): Promise<WorkflowDocumentRow | null> {
      const [row] = await sql<WorkflowDocumentRow[]>`
        select ${columns}, w.metadata, w.manifest_yaml ${named(tenant, reference)}`;
      return row ?? null;
    },

    /** By name, of each the latest version unless all are wanted; one row more than `limit` when there are more. */
    list(
      filter: WorkflowFilter,
      { limit, offset, after }: { limit: number; offset: number; after: readonly string[] | null },
    ) {
      const conditions = [sql`w.tenant = any(${texts(filter.owners)}::text[])`];
      if (Object.keys(filter.labels).length > 0) {
        conditions.push(sql`w.labels @> ${JSON.stringify(filter.labels)}::text::jsonb`);
      }
      if (filter.text !== null) {
        const part = `%${filter.text.replace(/[\\%_]/g, "\\$&")}%`;
        conditions.push(sql`(w.name ilike ${part} or w.description ilike ${part})`);
      }
      if (filter.tag !== null) conditions.push(sql`${filter.tag} = any(w.tags)`);
      if (after !== null) {
        const [name = "", owner = "", version = "", id = ""] = after;
        // A cursor that was tampered with finds nothing.
        if (!isUuid(id) || !isSemanticVersion(version)) return Promise.resolve([]);
        conditions.push(sql`(w.name collate "C" > ${name}
          or (w.name = ${name} and w.tenant collate "C" > ${owner})
          or (w.name = ${name} and w.tenant = ${owner} and w.version_order < ${versionOrder(version)})
          or (w.name = ${name} and w.tenant = ${owner} and w.version_order = ${versionOrder(version)} and w.workflow_id > ${id}))`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      const latest = filter.allVersions
        ? sql``
        : sql`and not exists (select from workflows v where v.tenant = w.tenant and v.name = w.name
            and (v.version_order, v.created_at, v.workflow_id) > (w.version_order, w.created_at, w.workflow_id))`;
      return sql<WorkflowRow[]>`
        select ${columns} from workflows w where ${where} ${latest}
        order by w.name collate "C", w.tenant collate "C", w.version_order desc, w.workflow_id
        limit ${limit + 1} offset ${offset}`;
    },

    /**
     * The workflows that names mean in the tenant, by name: the latest version of its own before a global one.
     */
    offered(tenant: string, { name, after }: Offered, limit: number) {
      return sql<OfferedRow[]>`
        select distinct on (w.name collate "C") w.name, w.description, w.input_schema from workflows w
        where w.tenant = any(${ownersOf(tenant)}::text[])
          ${name === undefined ? sql`` : sql`and w.name = ${name}`}
          ${after === undefined ? sql`` : sql`and w.name collate "C" > ${after}`}
        order by w.name collate "C", (w.tenant = ${tenant}) desc, w.version_order desc, w.created_at desc
        limit ${limit}`;
    },

    /** The versions of a name, newest first. */
    versions(owner: string, name: string, { limit, offset }: { limit: number; offset: number }) {
      return sql<VersionRow[]>`
        select ${columns}, w.manifest_sha256,
          row_number() over (order by w.version_order desc, w.created_at desc, w.workflow_id desc) = 1 as is_latest
        from workflows w where w.tenant = ${owner} and w.name = ${name}
        order by w.version_order desc, w.created_at desc, w.workflow_id desc limit ${limit} offset ${offset}`;
    },

    /** Of the given names and UUIDs, those that the tenant sees. */
    async visible(tenant: string, refs: readonly string[]): Promise<ReadonlySet<string>> {
      const ids = refs.filter(isUuid).map((id) => id.toLowerCase());
      const rows = await sql<{ workflow_id: string; name: string }[]>`
        select workflow_id, name from workflows
        where tenant = any(${ownersOf(tenant)}::text[])
          and (name = any(${texts(refs)}::text[]) or workflow_id = any(${texts(ids)}::text[]::uuid[]))`;
      const found = new Set(rows.flatMap(({ workflow_id, name }) => [workflow_id, name]));
      return new Set(refs.filter((one) => found.has(one) || (isUuid(one) && found.has(one.toLowerCase()))));
    },

    /** Holds every version of a name until the transaction ends, so that changes of it come one after the other. */
    async hold(tx: Transaction, owner: string, name: string) {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`workflow ${owner} ${name}`}, 0))`;
      return tx<{ workflow_id: string; version: string; context_ceilings: readonly string[] | null }[]>`
        select workflow_id, version, context_ceilings from workflows where tenant = ${owner} and name = ${name}
        order by version_order desc for update`;
    },

    /** Of these the definitions, as JSON, that may refer to secrets. */
    async referring(tx: Transaction, workflowIds: readonly string[]): Promise<readonly string[]> {
      const rows = await tx<{ definition: string }[]>`
        select definition from workflows
        where workflow_id = any(${texts(workflowIds)}::text[]::uuid[]) and position('"secret:' in definition) > 0`;
      return rows.map(({ definition }) => definition);
    },

    /** The security contexts that these definitions name, each once. */
    async contextsNamed(tx: Transaction, workflowIds: readonly string[]): Promise<readonly string[]> {
      const rows = await tx<{ name: string }[]>`
        select distinct definition::json ->> 'security_context' as name from workflows
        where workflow_id = any(${texts(workflowIds)}::text[]::uuid[]) and position('"security_context"' in definition) > 0`;
      return rows.flatMap(({ name }) => (name === null ? [] : [name]));
    },

    async insert(tx: Transaction, owner: string, workflowId: string, workflow: NewWorkflow, at: Date): Promise<void> {
      await tx`
        insert into workflows (workflow_id, tenant, name, version, version_order, description, labels, annotations, tags,
          metadata, input_schema, manifest_yaml, manifest_sha256, definition, created_at, registered_at, registered_by,
          registered_realm, deployer, context_ceilings)
        values (${workflowId}, ${owner}, ${workflow.name}, ${workflow.version}, ${versionOrder(workflow.version)},
          ${workflow.description}, ${JSON.stringify(workflow.labels)}::text::jsonb,
          ${JSON.stringify(workflow.annotations)}::text::json, ${texts(workflow.tags)}::text[],
          ${JSON.stringify(workflow.metadata)}::text::json, ${JSON.stringify(workflow.inputSchema)}::text::json,
          ${workflow.manifestYaml}, ${workflow.manifestSha256}, ${workflow.definition}, ${at}, ${at},
          ${workflow.registeredBy}, ${workflow.registeredRealm}, ${JSON.stringify(workflow.deployer)}::text::jsonb,
          ${ceilingsIn(workflow)}::text[])`;
    },

    /** Registers again under the same id. @returns when it was first registered */
    async replace(tx: Transaction, workflowId: string, workflow: NewWorkflow, at: Date): Promise<Date> {
      const [row] = await tx<{ created_at: Date }[]>`
        update workflows set description = ${workflow.description},
          labels = ${JSON.stringify(workflow.labels)}::text::jsonb,
          annotations = ${JSON.stringify(workflow.annotations)}::text::json, tags = ${texts(workflow.tags)}::text[],
          metadata = ${JSON.stringify(workflow.metadata)}::text::json,
          input_schema = ${JSON.stringify(workflow.inputSchema)}::text::json, manifest_yaml = ${workflow.manifestYaml},
          manifest_sha256 = ${workflow.manifestSha256}, definition = ${workflow.definition}, revision = revision + 1,
          registered_at = ${at}, registered_by = ${workflow.registeredBy},
          registered_realm = ${workflow.registeredRealm},
          deployer = ${JSON.stringify(workflow.deployer)}::text::jsonb, context_ceilings = ${ceilingsIn(workflow)}::text[]
        where workflow_id = ${workflowId} returning created_at`;
      return row?.created_at ?? at;
    },

    /** Who moves them is their deployer from then on: the former one may be none of the other tenant. */
    async give(tx: Transaction, workflowIds: readonly string[], owner: string, deployer: Deployer): Promise<void> {
      await tx`
        update workflows set tenant = ${owner}, deployer = ${JSON.stringify(deployer)}::text::jsonb
        where workflow_id = any(${texts(workflowIds)}::text[]::uuid[])`;
    },

    async remove(tx: Transaction, workflowIds: readonly string[]): Promise<void> {
      await tx`delete from workflows where workflow_id = any(${texts(workflowIds)}::text[]::uuid[])`;
    },

    /** When another user last registered a version of that name, the tenant's own or one for all; null: never. */
    async registeredByOthers(
      tenant: string,
      name: string,
      { realm, userId }: { readonly realm: string; readonly userId: string },
    ): Promise<Date | null> {
      const [row] = await sql<{ at: Date | null }[]>`
        select max(registered_at) as at from workflows
        where tenant = any(${ownersOf(tenant)}::text[]) and name = ${name}
          and not (registered_realm is not distinct from ${realm} and registered_by = ${userId})`;
      return row?.at ?? null;
    },

    /** Erases what was noted before. @returns how many changes */
    async eraseChanges(before: Date, limit: number): Promise<number> {
      const { count } = await sql`
        delete from workflow_changes where id in (
          select id from workflow_changes where at < ${before} order by at limit ${limit} for update skip locked)`;
      return count;
    },

    /** In the transaction of the change it tells. */
    async note(tx: Transaction, change: Change, id: string, at: Date): Promise<void> {
      await tx`
        insert into workflow_changes
          (id, at, tenant, type, workflow_id, name, version, actor_kind, actor_sub, request_id, details)
        values (${id}, ${at}, ${change.tenant}, ${change.type}, ${change.workflowId}, ${change.name}, ${change.version},
          ${change.actor.kind}, ${change.actor.sub}, ${change.requestId}, ${JSON.stringify(change.details)}::text::json)`;
    },
  };
}

const ceilingsIn = ({ ceilings = [] }: NewWorkflow): string | null => (ceilings.length === 0 ? null : texts(ceilings));
