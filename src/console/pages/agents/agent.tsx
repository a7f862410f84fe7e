/** One agent: what it is, how it went, its versions, its manifest, and a form to run it. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { DataTable } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { executionColumns } from "../executions/columns.tsx";
import { AgentActions } from "./agent-actions.tsx";
import { ManifestEditor } from "./manifest-editor.tsx";
import { RunForm } from "./run.tsx";
import { Versions } from "./versions.tsx";

type Detail = Schemas["AgentDetail"];

export function Agent() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const agent = useQuery({
    queryKey: ["agent", "one", id],
    queryFn: () => answer(svc.GET("/v1/agents/{id}", { params: { path: { id } } })),
  });
  if (agent.data === undefined)
    return (
      <Page title="Agent" about={<Copyable value={id} />}>
        {agent.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={agent.error} retry={() => void agent.refetch()} />
        )}
      </Page>
    );
  return <Shown key={id} agent={agent.data} />;
}

function Shown({ agent }: { readonly agent: Detail }) {
  const can = useCan();
  const [{ tab = "overview" }, change] = useFilters();
  const tabs = [
    { id: "overview", label: "Overview", content: <Overview agent={agent} /> },
    ...(can("agent:execute") && agent.status === "active"
      ? [{ id: "run", label: "Run", content: <RunForm agent={agent} /> }]
      : []),
    {
      id: "manifest",
      label: "Manifest",
      content: (
        <ManifestEditor
          key={`${agent.version} ${agent.revision}`}
          first={agent.manifest_yaml}
          deployed={agent.manifest_yaml}
          onDeployed={() => {}}
        />
      ),
    },
    { id: "versions", label: "Versions", content: <Versions agent={agent} /> },
  ];
  return (
    <Page
      title={agent.name}
      beside={
        <>
          <Status status={agent.status} />
          <Badge title={`revision ${agent.revision}`}>{inert(agent.version)}</Badge>
          {agent.scope === "global" && <Badge tone="violet">global</Badge>}
        </>
      }
      about={
        <>
          <Copyable value={agent.id} short />
          <span>
            deployed <Ago at={agent.deployed_at} />
          </span>
        </>
      }
      actions={<AgentActions agent={agent} />}
    >
      <Tabs
        chosen={tabs.some(({ id }) => id === tab) ? tab : "overview"}
        onChoose={(next) => change({ tab: next === "overview" ? "" : next })}
        tabs={tabs}
      />
    </Page>
  );
}

function Overview({ agent }: { readonly agent: Detail }) {
  const can = useCan();
  const list = useList(
    ["execution", "list", { agent: agent.id, of: "agent" }],
    (cursor) =>
      answer(svc.GET("/v1/executions", { params: { query: { agent_id: agent.id, cursor, limit: 50 } as never } })),
    can("execution:list"),
  );
  const columns = executionColumns.filter(({ id }) => id !== "agent");
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Panel title="About">
        <div className="flex flex-col gap-3">
          {agent.description !== null && <p className="m-0 max-w-prose">{inert(agent.description)}</p>}
          <Facts
            columns={2}
            of={[
              ["Kind", inert(agent.agent_type)],
              ["Executions", agent.execution_count.toLocaleString("en")],
              ["Tenant", <Copyable key="tenant" value={agent.tenant_id} />],
              ["Created", <Ago key="created" at={agent.created_at} />],
              [
                "Labels",
                <Words key="labels" of={Object.entries(agent.labels).map(([name, one]) => `${name}=${one}`)} />,
              ],
              ["Tags", <Words key="tags" of={agent.capability_tags} />],
            ]}
          />
        </div>
      </Panel>
      {can("execution:list") && (
        <section className="flex min-w-0 flex-col gap-2">
          <div className="flex items-center gap-2">
            <h2 className="m-0 font-semibold text-[0.95rem]">Executions</h2>
            <ButtonLink small look="ghost" to="/executions" search={{ agent: agent.id } as never}>
              See all with filters
            </ButtonLink>
          </div>
          <DataTable
            name="agent-executions"
            columns={columns}
            {...list}
            idOf={({ id }) => id}
            linkOf={({ id }) => `/executions/${id}`}
            empty={<Empty title="It has not run yet">Give it something to do under “Run”.</Empty>}
          />
        </section>
      )}
    </div>
  );
}

function Words({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <span className="text-ink-faint">–</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {of.map((word) => (
        <Badge key={word}>{inert(word)}</Badge>
      ))}
    </span>
  );
}
