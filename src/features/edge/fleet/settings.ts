/** What a tenant has settled about its fleet: who has to agree to a run, and whether anything is sent at all. */
import type { Identity } from "../../../../actors/identity/identity.ts";
import { tenantKind } from "../../../../actors/identity/tenant.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Call } from "../../../http/route.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { FleetSettings, FleetSettingsChange } from "./schema.ts";

export interface SettingsOptions {
  readonly sql: Sql;
  readonly audit: Pick<Audit, "append">;
  /** Told of each change once it is committed. */
  readonly changed: (tenant: string, settings: FleetSettings) => Promise<void>;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

interface Row extends Omit<FleetSettings, "self_approval"> {
  readonly self_approval: boolean | null;
}

export type Settings = ReturnType<typeof createSettings>;

export function createSettings({ sql, audit, changed, info }: SettingsOptions) {
  async function read(tenant: string, query: Sql | Transaction = sql): Promise<FleetSettings> {
    const [row] = await query<Row[]>`
      select approve_all, approve_above, agent_runs, self_approval, dispatch_enabled
      from edge_settings where tenant = ${tenant}`;
    return {
      approve_all: row?.approve_all ?? true,
      approve_above: row?.approve_above ?? null,
      agent_runs: row?.agent_runs ?? "approve",
      // No other person is there to be asked.
      self_approval: row?.self_approval ?? tenantKind(tenant) === "consumer",
      dispatch_enabled: row?.dispatch_enabled ?? true,
    };
  }

  return {
    read: (tenant: string): Promise<FleetSettings> => read(tenant),

    /** Of these tenants, those that send nothing. */
    async stopped(tenants: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ tenant: string }[]>`
        select tenant from edge_settings where tenant in ${sql(["", ...tenants])} and not dispatch_enabled`;
      return new Set(rows.map(({ tenant }) => tenant));
    },

    /** @throws Problem 403 `admin_required` */
    async change(
      caller: Pick<Call, "identity" | "tenant" | "request" | "requestId" | "address">,
      change: FleetSettingsChange,
    ): Promise<FleetSettings> {
      const { tenant, identity } = caller;
      if (!mayDecide(identity, tenant))
        throw new Problem("admin_required", "Settings of the fleet are changed by those who administer the tenant");
      const settings = (await sql.begin(async (tx) => {
        await tx`insert into edge_settings (tenant) values (${tenant}) on conflict do nothing`;
        await tx`select from edge_settings where tenant = ${tenant} for update`;
        const former = await read(tenant, tx);
        const after = { ...former, ...known(change) };
        await tx`
          update edge_settings set approve_all = ${after.approve_all}, approve_above = ${after.approve_above},
            agent_runs = ${after.agent_runs}, dispatch_enabled = ${after.dispatch_enabled},
            self_approval = ${change.self_approval === undefined ? tx`self_approval` : change.self_approval},
            updated_at = clock_timestamp()
          where tenant = ${tenant}`;
        await audit.append(tx, auditedBy(caller), {
          tenant,
          action: "edge.settings_updated",
          target: { type: "edge_settings", id: tenant },
          details: { before: { ...former }, after: { ...after } },
        });
        return after;
      })) as FleetSettings;
      info("edge_settings_updated", { tenant });
      await changed(tenant, settings);
      return settings;
    },
  };
}

/** Members that settings have; others of the request mean nothing. */
function known({ approve_all, approve_above, agent_runs, self_approval, dispatch_enabled }: FleetSettingsChange) {
  const given = { approve_all, approve_above, agent_runs, self_approval, dispatch_enabled };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as FleetSettingsChange;
}

function mayDecide({ kind, role, membership, homeTenant }: Identity, tenant: string): boolean {
  if (kind === "service_account") return true;
  if (kind === "operator") return role === "admin";
  if (membership !== null) return membership !== "member";
  return kind === "consumer" && homeTenant === tenant;
}
