/** One workflow: its graph, its manifest, its versions, its schedules; from here it is started. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { MoreHorizontal, Play, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Code } from "../../kit/code/code.tsx";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Menu } from "../../kit/controls/menu.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { Flow } from "../../kit/flow/flow.tsx";
import { Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { manifestText } from "../runs/model/queries.ts";
import { ManifestEditor } from "./edit.tsx";
import { readDefinition } from "./model/definition.ts";
import { definitionGraph } from "./model/graph.ts";
import { Schedules } from "./schedules.tsx";
import { Start } from "./start.tsx";
import { Versions } from "./versions.tsx";

export function WorkflowPage() {
  const { ref = "" } = useParams({ strict: false }) as { ref?: string };
  const [filters, change] = useFilters();
  const can = useCan();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [asked, ask] = useState<"start" | "delete" | null>(null);
  const { data, error, isPending } = useQuery({
    queryKey: ["workflow", "text-of", ref],
    queryFn: () => manifestText(ref),
  });
  const definition = useMemo(() => (data === undefined ? null : readDefinition(data)), [data]);
  const graph = useMemo(() => (definition === null ? null : definitionGraph(definition)), [definition]);
  if (isPending) return <Loading className="p-6" />;
  if (error !== null)
    return (
      <Page title={ref}>
        <Trouble error={error} />
      </Page>
    );
  return (
    <Page
      title={definition?.name ?? ref}
      beside={definition?.version != null && <Badge>{inert(definition.version)}</Badge>}
      about={
        <Link to="/runs" search={{ q: definition?.name ?? ref } as never} className="text-accent hover:underline">
          Its runs
        </Link>
      }
      actions={
        <>
          {can("workflow:run") && (
            <Button look="primary" onClick={() => ask("start")}>
              <Play aria-hidden />
              Start
            </Button>
          )}
          <Menu
            trigger={
              <IconButton label="More">
                <MoreHorizontal aria-hidden />
              </IconButton>
            }
            items={[
              can("workflow:delete") && { label: "Delete", icon: Trash2, danger: true, onClick: () => ask("delete") },
            ]}
          />
        </>
      }
    >
      <Tabs
        chosen={filters.tab ?? "graph"}
        onChoose={(tab) => change({ tab: tab === "graph" ? "" : tab })}
        tabs={[
          {
            id: "graph",
            label: "Graph",
            content: (
              <Panel flush>{graph !== null && <Flow graph={graph} label={`Graph of ${ref}`} height="36rem" />}</Panel>
            ),
          },
          {
            id: "edit",
            label: "Manifest",
            content:
              filters.tab === "edit" &&
              (can("workflow:deploy") ? (
                <ManifestEditor first={data} />
              ) : (
                <Panel flush>
                  <Code label="Manifest" language="yaml" height="36rem" value={data} />
                </Panel>
              )),
          },
          { id: "versions", label: "Versions", content: filters.tab === "versions" && <Versions name={ref} /> },
          { id: "schedules", label: "Schedules", content: filters.tab === "schedules" && <Schedules name={ref} /> },
        ]}
      />
      {asked === "start" && <Start name={ref} definition={definition} onClose={() => ask(null)} />}
      <Confirm
        open={asked === "delete"}
        onClose={() => ask(null)}
        danger
        typed={definition?.name ?? ref}
        title="Delete this workflow?"
        about="All its versions and schedules are removed. Records of its runs stay."
        verb="Delete"
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/workflows/{ref}", { params: { path: { ref } } }));
          await queries.invalidateQueries({ queryKey: ["workflow"] });
          await navigate({ to: "/workflows" });
        }}
      />
    </Page>
  );
}
