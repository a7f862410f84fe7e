/** One source: its URL and secret, what passes, how the sender signs, a test, what came last, its settings. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { Button } from "../../../kit/controls/button.tsx";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { DataTable } from "../../../kit/table.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Command, Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { deliveryColumns } from "../deliveries/columns.tsx";
import { presetHeaders, presetNames } from "../words.ts";
import { changeOf, draftOf } from "./draft.ts";
import { SourceSettings } from "./form.tsx";
import { SecretPanel } from "./secret.tsx";
import { Snippets, TestDelivery } from "./sender.tsx";

type Source = Schemas["Source"];

export function SourcePage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["source", "one", id],
    queryFn: () => answer(svc.GET("/v1/stimulus-routes/{id}", { params: { path: { id } } })),
  });
  if (data === undefined)
    return (
      <Page title="Source">
        {error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}
      </Page>
    );
  return <Shown of={data} />;
}

function Shown({ of }: { readonly of: Source }) {
  const can = useCan();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [{ tab = "overview" }, change] = useFilters();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Page
      title={of.source}
      beside={<Status status={of.enabled ? "active" : "paused"} label={of.enabled ? "takes messages" : "off"} />}
      about={
        <>
          <Copyable value={of.id} short />
          <span>
            last message <Ago at={of.last_received_at} />
          </span>
          <span>
            made <Ago at={of.created_at} /> by <Who of={of.created_by} />
          </span>
          {of.description !== "" && <bdi>{inert(of.description)}</bdi>}
        </>
      }
      actions={
        can("stimulus:manage") && (
          <Button look="danger" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden />
            Delete
          </Button>
        )
      }
    >
      <Tabs
        chosen={tab}
        onChoose={(id) => change({ tab: id === "overview" ? "" : id })}
        tabs={[
          { id: "overview", label: "Overview", content: <Overview of={of} /> },
          { id: "deliveries", label: "Deliveries", content: <Deliveries of={of} /> },
          ...(can("stimulus:manage")
            ? [{ id: "settings", label: "Settings", content: <Settings key={of.updated_at} of={of} /> }]
            : []),
        ]}
      />
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${inert(of.source)}?`}
        about="Its URL and secret stop working within seconds. What it received stays."
        verb="Delete"
        danger
        typed={of.source}
        onConfirm={async () => {
          await svc.DELETE("/v1/stimulus-routes/{id}", { params: { path: { id: of.id } } });
          await navigate({ to: "/sources" });
          await queries.invalidateQueries({ queryKey: ["source", "list"] });
        }}
      />
    </Page>
  );
}

function Overview({ of }: { readonly of: Source }) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="Where it goes">
          <Facts
            of={[
              [
                "Starts",
                of.workflow === null ? (
                  <Link
                    key="router"
                    to="/sources"
                    search={{ tab: "router" } as never}
                    className="text-accent hover:underline"
                  >
                    what the router chooses
                  </Link>
                ) : (
                  <span key="workflow">
                    <Link to={`/workflows/${of.workflow}`} className="text-accent hover:underline">
                      {inert(of.workflow)}
                    </Link>{" "}
                    <Badge>{of.workflow_version === null ? "latest" : inert(of.workflow_version)}</Badge>
                  </span>
                ),
              ],
              ["Answered", of.acknowledge === "routed" ? "when its run was started" : "at once, routed afterwards"],
              ["Signature", `${presetNames[of.signature.preset]}, in ${presetHeaders[of.signature.preset]}`],
              [
                "Repeats",
                of.replay_guard ? "an equal signed body is a repeat for a day" : "told by the idempotency key only",
              ],
            ]}
          />
        </Panel>
        <SecretPanel of={of} />
        <Passing of={of} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="For the sender">
          <div className="flex flex-col gap-3">
            <Command text={of.url} />
            {of.bare_url && (
              <p className="m-0 text-ink-soft text-xs">
                The short address <code>/v1/webhooks/{inert(of.source)}</code> leads here as well.
              </p>
            )}
            <Snippets of={of} secret={null} />
          </div>
        </Panel>
        <Panel title="Test">
          <TestDelivery key={of.signature.preset} of={of} secret={null} />
        </Panel>
      </div>
    </div>
  );
}

function Passing({ of }: { readonly of: Source }) {
  const { last_ignored: last } = of;
  return (
    <Panel title="What passes">
      <Facts
        of={[
          [
            "Events",
            of.events.length === 0 ? (
              "all"
            ) : (
              <span key="events" className="flex flex-wrap gap-1">
                {of.events.map((event) => (
                  <Badge key={event}>{inert(event)}</Badge>
                ))}
              </span>
            ),
          ],
          ["Match", of.match === null ? "everything" : <code key="match">{inert(of.match)}</code>],
          [
            "A minute",
            of.rate_limit_per_minute === null ? "no limit of its own" : `at most ${of.rate_limit_per_minute}`,
          ],
          ["Headers", of.forward_headers.length === 0 ? "none" : of.forward_headers.map(inert).join(", ")],
          [
            "Passed over",
            <span key="ignored">
              {of.ignored_count.toLocaleString("en")}
              {last !== null && (
                <span className="text-ink-soft">
                  , the last <Ago at={last.at} />: {inert(last.reason)}
                  {last.event !== null && ` (${inert(last.event)})`}
                </span>
              )}
            </span>,
          ],
        ]}
      />
    </Panel>
  );
}

function Deliveries({ of }: { readonly of: Source }) {
  const can = useCan();
  type Delivery = Schemas["StimulusElement"];
  const list = useList<Delivery>(["stimulus", "list", { of: of.source }], (cursor) =>
    answer(
      svc.GET("/v1/stimuli", {
        params: { query: { source: of.source, limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  return (
    <DataTable
      name="source-stimuli"
      columns={deliveryColumns}
      {...list}
      idOf={({ id }) => id}
      {...(can("stimulus:read") ? { linkOf: ({ id }: Delivery) => `/stimuli/${id}` } : {})}
      empty={<Empty title="Nothing has come from it yet">Send a test from its overview.</Empty>}
    />
  );
}

function Settings({ of }: { readonly of: Source }) {
  const queries = useQueryClient();
  const [before] = useState(() => draftOf(of));
  const [draft, setDraft] = useState(before);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = changeOf(draft, before);
  const isChanged = Object.keys(change).length > 0;
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await svc.PATCH("/v1/stimulus-routes/{id}", { params: { path: { id: of.id } }, body: change });
      tell("Saved: it holds on every node within seconds");
      await queries.invalidateQueries({ queryKey: ["source"] });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <Trouble error={error} />}
      <SourceSettings isNew={false} draft={draft} onChange={setDraft} />
      <div className="flex justify-end gap-2">
        <Button look="ghost" disabled={!isChanged} onClick={() => setDraft(before)}>
          Put back
        </Button>
        <Button look="primary" busy={isBusy} disabled={!isChanged} onClick={() => void save()}>
          Save
        </Button>
      </div>
    </div>
  );
}
