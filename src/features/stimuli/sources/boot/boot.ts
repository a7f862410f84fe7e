/** Puts what the first-boot file names into the tables, where it is not there yet. */
import type { Tenants } from "../../../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../../../store/postgres/pool.ts";
import { type Audit, type AuditedBy, auditedSystem } from "../../../audit/port.ts";
import type { Encryption } from "../../../encryption/port.ts";
import { sourceRecords } from "../records.ts";
import { routerRecords } from "../routers/records.ts";
import { routerRow } from "../routers/service.ts";
import { maxSources } from "../service.ts";
import { noSecrets, replacedSecrets } from "../verification/secrets.ts";
import { shownSettings } from "../wire.ts";
import { type BootSource, type BootTenant, readBootFile } from "./file.ts";

export interface BootOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly audit: Audit;
  readonly tenants: Pick<Tenants, "ensure">;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** Whose doing the rows are. */
const creator = { kind: "system", sub: "stimulus-routes-file" };
const by: AuditedBy = auditedSystem(creator.sub);

/**
 * Reads the file at `path` and writes what it names; see `bootSources`.
 * @returns what is wrong with it, all of it; then nothing was written
 */
export async function bootSourcesFrom(options: BootOptions, path: string): Promise<readonly string[]> {
  const { tenants, problems } = await readBootFile(path);
  return problems.length > 0 ? problems : bootSources(options, tenants);
}

/**
 * Rows that are there, however they came to be, are left alone; nodes that start at once make each row once.
 * @returns what does not fit into the tables; then nothing was written
 */
export async function bootSources(options: BootOptions, tenants: readonly BootTenant[]): Promise<readonly string[]> {
  // Always in the same order, so that two nodes cannot wait for each other.
  const ordered = [...tenants].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  const booting = inserting(options);
  const problems: string[] = [];
  await options.sql.begin(async (tx) => {
    problems.length = 0;
    for (const tenant of ordered) {
      const fits = await booting.fit(tx, tenant);
      if (!fits) {
        problems.push(
          `SVC_STIMULUS_ROUTES_FILE tenants.${tenant.slug}.routes: a tenant may have at most ${maxSources} source routes, with those it has`,
        );
      }
    }
    if (problems.length > 0) return;
    for (const tenant of ordered) await booting.insert(tx, tenant);
  });
  if (problems.length === 0)
    for (const { slug } of ordered) {
      await options.tenants.ensure(slug, (tx) => {
        const target = { type: "tenant", id: slug };
        return options.audit.append(tx, by, { tenant: slug, action: "tenant.autoprovisioned", target, details: {} });
      });
    }
  return problems;
}

function inserting({ sql, encryption, audit, now, newId }: BootOptions) {
  const records = sourceRecords(sql);
  const routers = routerRecords(sql);

  async function missing(tx: Transaction, { slug, sources }: BootTenant): Promise<BootSource[]> {
    const absent: BootSource[] = [];
    for (const one of sources) {
      if ((await records.idOf(tx, slug, one.settings.source)) === null) absent.push(one);
    }
    return absent;
  }

  async function insertSource(tx: Transaction, tenant: string, { settings, secret }: BootSource): Promise<void> {
    const id = newId();
    const secrets =
      secret === null ? noSecrets : replacedSecrets(encryption, { tenant, id, secret_version: 0 }, secret);
    await records.insert(tx, { id, tenant, settings, secrets, createdBy: creator, creator: null, at: new Date(now()) });
    await audit.append(tx, by, {
      tenant,
      action: "stimulus_route.created",
      target: { type: "stimulus_route", id },
      details: { ...shownSettings(settings), has_secret: secret !== null },
    });
  }

  return {
    /** Whether the tenant's sources stay within the bound; holds their number until the transaction ends. */
    async fit(tx: Transaction, tenant: BootTenant): Promise<boolean> {
      const count = await records.hold(tx, tenant.slug);
      return count + (await missing(tx, tenant)).length <= maxSources;
    },

    async insert(tx: Transaction, tenant: BootTenant): Promise<void> {
      const { slug, router } = tenant;
      for (const one of await missing(tx, tenant)) await insertSource(tx, slug, one);
      if (router === null) return;
      // Which agent is meant is found out at use: there may be none yet.
      const row = routerRow(slug, router, null, creator, new Date(now()));
      if (!(await routers.put(tx, row, false))) return;
      await audit.append(tx, by, {
        tenant: slug,
        action: "stimulus_router.updated",
        target: { type: "stimulus_router", id: slug },
        details: { router_agent: router.agent },
      });
    },
  };
}
