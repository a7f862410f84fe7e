/** API keys: what machines call with. */
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Checkbox, Input, Select } from "../../kit/controls/field.tsx";
import { ChoiceFilter, FilterBar, useFilters } from "../../kit/controls/filters.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { Once } from "../../kit/dialogs/once.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Key = Schemas["ApiKey"];
type State = Key["status"];

const states = ["active", "revoked", "expired"] as const;
const stateOf = (text: string | undefined): State | undefined => states.find((one) => one === text);

export function ApiKeys() {
  const can = useCan();
  const queries = useQueryClient();
  const [filters] = useFilters();
  const status = stateOf(filters.status);
  const all = filters.all === "true";
  const [isNew, make] = useState(false);
  const [issued, issue] = useState<string | null>(null);
  const [revoked, revoke] = useState<Key | null>(null);
  const [rotated, rotate] = useState<Key | null>(null);
  const list = useList(["api_key", "list", status, all], (cursor) =>
    answer(
      svc.GET("/v1/api-keys", {
        params: {
          query: {
            limit: 100,
            ...(all ? { all } : {}),
            ...(cursor === undefined ? {} : { cursor }),
            ...(status === undefined ? {} : { status }),
          },
        },
      }),
    ),
  );
  const renew = () => queries.invalidateQueries({ queryKey: ["api_key"] });
  const columns: readonly Column<Key>[] = [
    {
      id: "name",
      title: "Name",
      width: "minmax(10rem, 2fr)",
      cell: ({ name, prefix, last4 }) => (
        <span className="flex items-baseline gap-2">
          <bdi className="truncate font-medium">{name}</bdi>
          <code className="text-ink-faint text-xs">
            {prefix}…{last4}
          </code>
        </span>
      ),
    },
    { id: "status", title: "Status", width: "7rem", cell: (key) => <Status status={key.status} /> },
    {
      id: "scopes",
      title: "Scopes",
      wide: true,
      width: "minmax(10rem, 2fr)",
      cell: ({ scopes }) => <Scopes scopes={scopes} />,
    },
    {
      id: "used",
      title: "Last used",
      width: "7rem",
      wide: true,
      cell: ({ last_used_at }) => <Ago at={last_used_at} />,
    },
    {
      id: "expires",
      title: "Expires",
      width: "7rem",
      wide: true,
      cell: ({ expires_at }) =>
        expires_at === null ? <span className="text-ink-faint">never</span> : <Ago at={expires_at} />,
    },
    { id: "owner", title: "Owner", extra: true, cell: ({ owner_user_id }) => <bdi>{owner_user_id}</bdi> },
    { id: "created", title: "Created", extra: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: "actions",
      title: "",
      width: "11rem",
      right: true,
      cell: (key) =>
        key.status === "active" && (
          <>
            {can("key:create") && (
              <Button small look="ghost" onClick={() => rotate(key)}>
                Rotate
              </Button>
            )}
            {can("key:revoke") && (
              <Button small look="ghost" onClick={() => revoke(key)}>
                Revoke
              </Button>
            )}
          </>
        ),
    },
  ];
  const newKey = can("key:create") && (
    <Button look="primary" onClick={() => make(true)}>
      <Plus aria-hidden />
      New API key
    </Button>
  );
  return (
    <Page title="API keys" about="A key acts as you do, within the scopes that you give it." actions={newKey}>
      <FilterBar names={["status", "all"]}>
        <ChoiceFilter name="status" label="Status" single choices={states.map((value) => ({ value, label: value }))} />
        <ChoiceFilter name="all" label="Owner" single choices={[{ value: "true", label: "of all members" }]} />
      </FilterBar>
      <DataTable
        {...list}
        name="api-keys"
        filters={["status"]}
        columns={columns}
        idOf={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title="No API keys">
            Programs send one as <code>Authorization: Bearer svc_…</code>. From a terminal:
            <span className="mt-2 block">
              <Cli args="keys create ci" />
            </span>
          </Empty>
        }
      />
      {isNew && <NewKey onClose={() => make(false)} onIssued={(value) => issue(value)} renew={renew} />}
      <Once
        title="Your new key"
        value={issued}
        about="It is shown once. Put it where your program finds it; here it cannot be read again."
        onClose={() => issue(null)}
      />
      {rotated !== null && (
        <Rotate of={rotated} onClose={() => rotate(null)} onIssued={(value) => issue(value)} renew={renew} />
      )}
      <Confirm
        open={revoked !== null}
        onClose={() => revoke(null)}
        danger
        title={`Revoke ${revoked?.name ?? ""}?`}
        about="Calls with it fail within seconds, and keys that were made with it end too. This cannot be undone."
        verb="Revoke"
        onConfirm={async () => {
          await svc.DELETE("/v1/api-keys/{id}", { params: { path: { id: revoked?.id ?? "" } } });
          await renew();
        }}
      />
    </Page>
  );
}

function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <span title={scopes.join(" ")} className="flex gap-1">
      {scopes.slice(0, 2).map((scope) => (
        <Badge key={scope}>{scope}</Badge>
      ))}
      {scopes.length > 2 && <span className="text-ink-faint text-xs">+{scopes.length - 2}</span>}
    </span>
  );
}

interface IssueProps {
  readonly onClose: () => void;
  readonly onIssued: (value: string) => void;
  readonly renew: () => Promise<unknown>;
}

const lives = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "one year" },
  { value: "", label: "no end" },
];

const dayMs = 86_400_000;

function NewKey({ onClose, onIssued, renew }: IssueProps) {
  const { scopes: held } = useMe();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const groups = Map.groupBy(held, (scope) => scope.split(/[:.]/)[0] ?? scope);
  const toggle = (some: readonly string[], on: boolean) => {
    const next = new Set(chosen);
    for (const scope of some) on ? next.add(scope) : next.delete(scope);
    choose(next);
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      size="large"
      title="New API key"
      about="Give it no more than its program needs. Without a choice it gets all that you hold."
      verb="Create"
      disabled={name.trim() === ""}
      onSend={async () => {
        const made = await answer(
          svc.POST("/v1/api-keys", {
            params: {},
            body: {
              name: name.trim(),
              ...(chosen.size === 0 ? {} : { scopes: [...chosen] }),
              ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
            },
          }),
        );
        onIssued(made.key);
        await renew();
      }}
    >
      <div className="grid gap-3 sm:grid-cols-[2fr_1fr]">
        <Input label="Name" value={name} onChange={setName} placeholder="ci" required autoFocus />
        <Select label="Ends after" value={days} choices={lives} onChange={setDays} />
      </div>
      <fieldset className="m-0 border-0 p-0">
        <legend className="p-0 font-medium text-ink-soft text-xs">Scopes</legend>
        <div className="mt-1.5 grid max-h-72 gap-x-6 gap-y-3 overflow-auto sm:grid-cols-2">
          {[...groups].map(([group, scopes]) => (
            <div key={group} className="flex flex-col gap-1">
              <span className="font-medium">
                <Checkbox
                  label={group}
                  checked={scopes.every((scope) => chosen.has(scope))}
                  mixed={scopes.some((scope) => chosen.has(scope)) && !scopes.every((scope) => chosen.has(scope))}
                  onChange={(on) => toggle(scopes, on)}
                />
              </span>
              <span className="flex flex-wrap gap-x-3 gap-y-1 pl-6 text-xs">
                {scopes.map((scope) => (
                  <Checkbox
                    key={scope}
                    label={scope.slice(group.length + 1)}
                    checked={chosen.has(scope)}
                    onChange={(on) => toggle([scope], on)}
                  />
                ))}
              </span>
            </div>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  );
}

const graces = [
  { value: "0", label: "at once" },
  { value: "3600", label: "after an hour" },
  { value: "86400", label: "after a day" },
];

function Rotate({ of, onClose, onIssued, renew }: IssueProps & { readonly of: Key }) {
  const [grace, setGrace] = useState("3600");
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Rotate ${of.name}`}
      about="A new value is made; the present one still works for a while, so that nothing breaks."
      verb="Rotate"
      onSend={async () => {
        const made = await answer(
          svc.POST("/v1/api-keys/{id}/rotate", {
            params: { path: { id: of.id } },
            body: { grace_seconds: Number(grace) },
          }),
        );
        onIssued(made.key);
        await renew();
      }}
    >
      <Select label="The present value ends" value={grace} choices={graces} onChange={setGrace} />
    </FormDialog>
  );
}
