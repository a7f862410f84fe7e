/** What arrived: every delivery, how it was routed and what it started. */
import { Webhook } from "lucide-react";
import { useMemo, useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { ButtonLink } from "../../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../../kit/controls/filters.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty, Page } from "../../../kit/page.tsx";
import { DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { wordsOf } from "../../../kit/values/status.tsx";
import { channels, statuses } from "../words.ts";
import { BulkActions, BulkWork, type Work } from "./bulk.tsx";
import { deliveryColumns } from "./columns.tsx";

type Delivery = Schemas["StimulusElement"];

const filterNames = ["source", "status", "channel", "since", "run"];
const spans: Readonly<Record<string, number>> = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 };
const channelOf = (text: string) => channels.find((channel) => channel === text);
const uuid = /^[0-9a-f-]{36}$/i;

export function Stimuli() {
  const [{ dead_letter: dead = "" }, change] = useFilters();
  return (
    <Page
      title="Stimuli"
      about="Messages from outside: webhooks, calls of the API and replays. Each starts at most one workflow or wakes runs that wait for it."
    >
      <Tabs
        chosen={dead === "true" ? "dead" : "all"}
        onChoose={(id) => change({ dead_letter: id === "dead" ? "true" : "", status: "" })}
        tabs={[
          { id: "all", label: "All deliveries", content: <Deliveries dead={false} /> },
          { id: "dead", label: "Dead letters", content: <Deliveries dead /> },
        ]}
      />
    </Page>
  );
}

function Deliveries({ dead }: { readonly dead: boolean }) {
  const can = useCan();
  const [{ source = "", status = "", channel = "", since = "", run = "" }] = useFilters();
  const [work, setWork] = useState<Work | null>(null);
  const isRun = uuid.test(run.trim());
  // From the moment at which it is chosen: later pages follow the same bound.
  const from = useMemo(() => {
    const span = spans[since];
    return span === undefined ? null : new Date(Date.now() - span).toISOString();
  }, [since]);
  const list = useList<Delivery>(["stimulus", "list", { dead, source, status, channel, from, run }], (cursor) => {
    const via = channelOf(channel);
    return answer(
      svc.GET("/v1/stimuli", {
        params: {
          query: {
            limit: 100,
            ...(dead ? { dead_letter: true } : {}),
            ...(source === "" ? {} : { source: source.trim().toLowerCase() }),
            ...(status === "" ? {} : { status }),
            ...(via === undefined ? {} : { channel: via }),
            ...(from === null ? {} : { from }),
            ...(isRun ? { workflow_execution_id: run.trim() } : {}),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    );
  });
  return (
    <div className="flex flex-col gap-3">
      <FilterBar names={filterNames}>
        <SearchFilter name="source" label="Source" />
        {!dead && (
          <ChoiceFilter
            name="status"
            label="Status"
            choices={statuses.map((value) => ({ value, label: wordsOf(value) }))}
          />
        )}
        <ChoiceFilter
          name="channel"
          label="Channel"
          single
          choices={channels.map((value) => ({ value, label: value }))}
        />
        <ChoiceFilter
          name="since"
          label="Time"
          single
          choices={[
            { value: "1h", label: "the last hour" },
            { value: "24h", label: "the last day" },
            { value: "7d", label: "the last week" },
          ]}
        />
        <SearchFilter name="run" label="Id of the run it started" />
      </FilterBar>
      {run.trim() !== "" && !isRun && (
        <p role="status" className="m-0 text-warn text-xs">
          A run is found by its whole id; until it is complete, this filter does nothing.
        </p>
      )}
      <DataTable
        name="stimuli"
        columns={deliveryColumns}
        {...list}
        idOf={({ id }) => id}
        {...(can("stimulus:read") ? { linkOf: ({ id }: Delivery) => `/stimuli/${id}` } : {})}
        bulk={
          can("stimulus:manage")
            ? (selected, clear) => <BulkActions selected={selected} clear={clear} onStart={setWork} />
            : undefined
        }
        filters={filterNames}
        empty={<NothingHere dead={dead} />}
      />
      {work !== null && (
        <BulkWork
          deed={work.deed}
          of={work.of}
          onClose={(done) => {
            setWork(null);
            if (done) work.clear();
          }}
        />
      )}
    </div>
  );
}

function NothingHere({ dead }: { readonly dead: boolean }) {
  if (dead)
    return (
      <Empty icon={Webhook} title="No dead letters">
        Every delivery found a workflow or was put away. What cannot be routed or started stands here, to be replayed or
        discarded.
      </Empty>
    );
  return (
    <Empty
      icon={Webhook}
      title="Nothing has arrived yet"
      actions={<ButtonLink to="/sources">Set up a source</ButtonLink>}
    >
      <p className="mt-0 mb-2">A source gives the sender a URL and a secret. Or send one message yourself:</p>
      <Cli args="stimuli send orders hello" />
    </Empty>
  );
}
