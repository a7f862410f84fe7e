/** One tenant: its tier, quotas and life, and taking its data along. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Download, MoreHorizontal, Pencil } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { Menu } from "../../kit/controls/menu.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { saveAs } from "../account/save.ts";
import { tiers } from "./tenants.tsx";

type Tenant = Schemas["Tenant"];
type Asked = "suspend" | "resume" | "delete" | "restore";

export function TenantPage() {
  const { slug = "" } = useParams({ strict: false }) as { slug?: string };
  const {
    data: tenant,
    error,
    refetch,
  } = useQuery({
    queryKey: ["tenant", "one", slug],
    queryFn: () => answer(svc.GET("/v1/admin/tenants/{slug}", { params: { path: { slug } } })),
  });
  if (tenant === undefined)
    return (
      <Page title={slug}>{error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}</Page>
    );
  return <Shown tenant={tenant} />;
}

function Shown({ tenant }: { readonly tenant: Tenant }) {
  const can = useCan();
  const { role } = useMe();
  const queries = useQueryClient();
  const [isChanging, change] = useState(false);
  const [asked, ask] = useState<Asked | null>(null);
  const write = can("tenant:provision") && tenant.kind !== "system";
  const { status, quotas } = tenant;
  const save = async () => {
    tell("The export begins", "It is saved when it is complete.");
    const response = await svc.send(`/v1/admin/tenants/${encodeURIComponent(tenant.slug)}/export`);
    saveAs(await response.blob(), `${tenant.slug}.tar`);
  };
  return (
    <Page
      title={tenant.display_name}
      beside={
        <>
          <Status status={status} />
          <Badge tone="info">{tenant.tier}</Badge>
        </>
      }
      about={
        <>
          <Copyable value={tenant.slug} />
          <span>
            created <Ago at={tenant.created_at} />
          </span>
          {tenant.purge_at !== null && (
            <span className="text-bad">
              everything is erased <Ago at={tenant.purge_at} />
            </span>
          )}
        </>
      }
      actions={
        <>
          {write && (
            <Button onClick={() => change(true)}>
              <Pencil aria-hidden />
              Change
            </Button>
          )}
          <Menu
            trigger={
              <IconButton label="More" look="plain">
                <MoreHorizontal aria-hidden />
              </IconButton>
            }
            items={[
              role === "admin" && {
                label: "Export all data",
                icon: Download,
                onClick: () => void save().catch((error: unknown) => tellError("The export failed", error)),
              },
              write && status === "active" && { label: "Suspend", onClick: () => ask("suspend") },
              write && status === "suspended" && { label: "Resume", onClick: () => ask("resume") },
              write && status === "deleted" && { label: "Restore", onClick: () => ask("restore") },
              write && status !== "deleted" && { label: "Delete", danger: true, onClick: () => ask("delete") },
            ]}
          />
        </>
      }
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="About">
          <Facts
            of={[
              ["Kind", tenant.kind],
              ["Owner", tenant.owner_email === null ? null : <bdi key="owner">{inert(tenant.owner_email)}</bdi>],
              ["Tier comes from", tenant.tier_source],
              ["Realm", <code key="realm">{tenant.idp_realm}</code>],
              ["Vault namespace", <code key="vault">{tenant.vault_namespace}</code>],
              ["Suspended", tenant.suspended_at === null ? null : <Ago key="suspended" at={tenant.suspended_at} />],
              ["Reason", tenant.suspend_reason === null ? null : inert(tenant.suspend_reason)],
            ]}
          />
        </Panel>
        <Panel title="Quotas">
          <Facts
            of={[
              ["Agents", quotaText(quotas.max_agents)],
              ["Executions at once", quotaText(quotas.max_concurrent_executions)],
              ["Storage", quotaText(quotas.max_storage_gb, " GB")],
            ]}
          />
        </Panel>
      </div>
      {isChanging && <Change tenant={tenant} onClose={() => change(false)} />}
      {asked !== null && (
        <Ask
          asked={asked}
          tenant={tenant}
          onClose={() => ask(null)}
          onDone={() => queries.invalidateQueries({ queryKey: ["tenant"] })}
        />
      )}
    </Page>
  );
}

const abouts: Readonly<Record<Asked, string>> = {
  suspend: "Nothing new starts; what runs goes on. Its people can read, pay and take away.",
  resume: "Starts are let in again.",
  delete: "What runs is cancelled, keys end, and everything is erased after 30 days. Until then it can be restored.",
  restore: "The data is back; keys that were revoked stay revoked.",
};

function Ask({
  asked,
  tenant,
  onClose,
  onDone,
}: {
  readonly asked: Asked;
  readonly tenant: Tenant;
  readonly onClose: () => void;
  readonly onDone: () => Promise<unknown>;
}) {
  const [reason, setReason] = useState("");
  const params = { path: { slug: tenant.slug } };
  const doing: Readonly<Record<Asked, () => Promise<unknown>>> = {
    suspend: () => svc.POST("/v1/admin/tenants/{slug}/suspend", { params, body: reason === "" ? {} : { reason } }),
    resume: () => svc.POST("/v1/admin/tenants/{slug}/resume", { params }),
    delete: () => svc.DELETE("/v1/admin/tenants/{slug}", { params }),
    restore: () => svc.POST("/v1/admin/tenants/{slug}/restore", { params }),
  };
  const verb = asked.charAt(0).toUpperCase() + asked.slice(1);
  return (
    <Confirm
      open
      onClose={onClose}
      danger={asked === "delete" || asked === "suspend"}
      title={`${verb} ${tenant.display_name}?`}
      about={abouts[asked]}
      verb={verb}
      {...(asked === "delete" ? { typed: tenant.slug } : {})}
      onConfirm={async () => {
        await doing[asked]();
        await onDone();
      }}
    >
      {asked === "suspend" && <Input label="Reason" value={reason} onChange={setReason} hint="Its people read it" />}
    </Confirm>
  );
}

/** Below nothing: without a limit. */
const quotaText = (quota: number, unit = ""): string =>
  quota < 0 ? "no limit" : `${quota.toLocaleString("en")}${unit}`;

function Change({ tenant, onClose }: { readonly tenant: Tenant; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(tenant.display_name);
  const [tier, setTier] = useState<string>(tenant.tier);
  const [agents, setAgents] = useState(String(tenant.quotas.max_agents));
  const [executions, setExecutions] = useState(String(tenant.quotas.max_concurrent_executions));
  const [storage, setStorage] = useState(String(tenant.quotas.max_storage_gb));
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Change the tenant"
      verb="Save"
      onSend={async () => {
        const changedTier = tiers.find((one) => one === tier && one !== tenant.tier);
        const numbers = {
          max_agents: Number(agents),
          max_concurrent_executions: Number(executions),
          max_storage_gb: Number(storage),
        };
        const quotas = Object.fromEntries(
          Object.entries(numbers).filter(([key, value]) => value !== tenant.quotas[key as keyof typeof numbers]),
        );
        const body = {
          ...(name === tenant.display_name ? {} : { display_name: name }),
          ...(changedTier === undefined ? {} : { tier: changedTier }),
          ...(Object.keys(quotas).length === 0 ? {} : { quotas }),
        };
        await answer(svc.PATCH("/v1/admin/tenants/{slug}", { params: { path: { slug: tenant.slug } }, body }));
        tell("Saved");
        await queries.invalidateQueries({ queryKey: ["tenant"] });
      }}
    >
      <Input label="Name" value={name} onChange={setName} required />
      <Select label="Tier" value={tier} choices={tiers.map((value) => ({ value, label: value }))} onChange={setTier} />
      <div className="grid gap-3 sm:grid-cols-3">
        <Input label="Agents" type="number" value={agents} onChange={setAgents} />
        <Input label="Executions at once" type="number" value={executions} onChange={setExecutions} />
        <Input label="Storage, GB" type="number" value={storage} onChange={setStorage} />
      </div>
    </FormDialog>
  );
}
