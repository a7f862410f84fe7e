/** One group, or a new one: its name, what it selects, which hosts are pinned, and live which hosts those are. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { Button, ButtonLink } from "../../../kit/controls/button.tsx";
import { Checkbox, Input } from "../../../kit/controls/field.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago, useSettled } from "../../../kit/values/time.tsx";
import { HostPicker } from "../wizard/host-picker.tsx";
import { TargetPreview, usePreview } from "../wizard/preview.tsx";
import { type Draft, draftOf, emptyDraft, selectorOf } from "./selector.ts";
import { SelectorForm } from "./selector-form.tsx";

type Group = Schemas["EdgeGroupDetail"];

export function GroupPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string };
  const isNew = id === "new";
  const { data, error, refetch } = useQuery({
    queryKey: ["host", "list", "group", id],
    queryFn: () => answer(svc.GET("/v1/edge/groups/{id}", { params: { path: { id } } })),
    enabled: !isNew,
  });
  if (isNew) return <Form group={null} />;
  if (data === undefined)
    return (
      <Page title="Group">{error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}</Page>
    );
  return <Form key={data.updated_at} group={data} />;
}

function Form({ group }: { readonly group: Group | null }) {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(group?.name ?? "");
  const [selects, setSelects] = useState(group === null || group.selector !== null);
  const [draft, setDraft] = useState<Draft>(() => draftOf(group?.selector ?? null));
  const [pinned, setPinned] = useState<readonly string[]>(group?.pinned_members ?? []);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const canWrite = can("aegis.edge.groups.write");
  const selector = selects ? selectorOf(draft) : null;
  const isOpen = selects && JSON.stringify(selector) === JSON.stringify(selectorOf(emptyDraft));
  const target = useSettled(JSON.stringify(selector === null ? { Nodes: pinned } : { Selector: selector }), 300);
  const preview = usePreview(selector === null && pinned.length === 0 ? null : (JSON.parse(target) as object), null);
  const save = async () => {
    setBusy(true);
    setError(null);
    const body = { name, selector, pinned_members: [...pinned] };
    try {
      const { id } =
        group === null
          ? await answer(svc.POST("/v1/edge/groups", { body }))
          : await answer(svc.PATCH("/v1/edge/groups/{id}", { params: { path: { id: group.id } }, body }));
      await queries.invalidateQueries({ queryKey: ["host"] });
      tell(group === null ? "The group is there" : "The group is saved");
      await navigate({ to: `/fleet/groups/${id}` });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title={group?.name ?? "New group"}
      about={
        group !== null && (
          <>
            <Copyable value={group.id} short />
            <span>
              changed <Ago at={group.updated_at} />
            </span>
            <span>
              made by <Who of={{ sub: group.created_by }} />
            </span>
          </>
        )
      }
      actions={
        <>
          {group !== null && can("aegis.edge.fleet.manage") && (
            <ButtonLink to="/fleet/run" search={{ group: group.id } as never}>
              <Play aria-hidden />
              Run on this group
            </ButtonLink>
          )}
          {group !== null && canWrite && (
            <Button look="danger" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden />
              Delete
            </Button>
          )}
          {canWrite && (
            <Button look="primary" busy={isBusy} disabled={name.trim() === ""} onClick={() => void save()}>
              {group === null ? "Make the group" : "Save"}
            </Button>
          )}
        </>
      }
    >
      {error !== null && <Trouble error={error} />}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What is in it">
          <div className="flex flex-col gap-4">
            <Input label="Name" value={name} onChange={setName} disabled={!canWrite} />
            <Checkbox label="Hosts that fit all of this" checked={selects} onChange={setSelects} />
            {selects && <SelectorForm draft={draft} onChange={setDraft} />}
            {isOpen && (
              <p className="m-0 text-warn text-xs">
                Nothing is asked for: the group holds every host there is and will be.
              </p>
            )}
            <HostPicker label="And these hosts, always" chosen={pinned} onChange={setPinned} />
          </div>
        </Panel>
        <Panel title="Hosts that fit now">
          <TargetPreview preview={preview} also={selector === null ? [] : pinned} />
        </Panel>
      </div>
      {group !== null && (
        <Confirm
          open={isDeleting}
          onClose={() => setDeleting(false)}
          title={`Delete ${inert(group.name)}?`}
          about="Its hosts stay as they are, and so do runs over it."
          verb="Delete"
          danger
          onConfirm={async () => {
            await svc.DELETE("/v1/edge/groups/{id}", { params: { path: { id: group.id } } });
            await queries.invalidateQueries({ queryKey: ["host"] });
            await navigate({ to: "/fleet", search: { tab: "groups" } as never });
          }}
        />
      )}
    </Page>
  );
}
