/** The versions of an agent, each as it was deployed: compared with the present one, and brought back. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { GitCompare, History } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Difference } from "../../kit/code/code.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Confirm, Dialog } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Version = Schemas["AgentVersion"];

const nameOf = ({ version, revision }: Version) => `${version} (revision ${revision})`;

export function Versions({ agent }: { readonly agent: Schemas["AgentDetail"] }) {
  const can = useCan();
  const queries = useQueryClient();
  const [compared, compare] = useState<Version | null>(null);
  const [back, bring] = useState<Version | null>(null);
  const { id } = agent;
  const versions = useQuery({
    queryKey: ["agent", "one", id, "versions"],
    queryFn: () =>
      answer(svc.GET("/v1/agents/{id}/versions", { params: { path: { id }, query: { revisions: true, limit: 100 } } })),
  });
  if (versions.error !== null) return <Trouble error={versions.error} retry={() => void versions.refetch()} />;
  if (versions.data === undefined) return <Loading />;
  return (
    <Panel flush title="Versions">
      <ul className="m-0 list-none p-0">
        {versions.data.items.map((one) => (
          <li
            key={`${one.id} ${one.revision}`}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2.5 last:border-b-0"
          >
            <span className="flex min-w-40 flex-1 items-center gap-2">
              <span className="font-medium">{inert(one.version)}</span>
              <span className="text-ink-soft text-xs">revision {one.revision}</span>
              {one.current && <Badge tone="good">current</Badge>}
            </span>
            <span className="flex items-center gap-1 text-ink-soft text-xs">
              <Ago at={one.deployed_at} /> by <Copyable value={one.deployed_by} short />
            </span>
            {!one.current && (
              <span className="flex gap-1.5">
                <Button small look="ghost" onClick={() => compare(one)}>
                  <GitCompare aria-hidden />
                  Compare
                </Button>
                {can("agent:deploy") && agent.status !== "archived" && (
                  <Button small onClick={() => bring(one)}>
                    <History aria-hidden />
                    Roll back
                  </Button>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
      <Dialog
        open={compared !== null}
        onClose={() => compare(null)}
        size="large"
        title="What differs"
        about={compared === null ? "" : `Left: ${nameOf(compared)}. Right: the current one.`}
      >
        {compared !== null && (
          <Difference before={compared.manifest_yaml} after={agent.manifest_yaml} language="yaml" />
        )}
      </Dialog>
      <Confirm
        open={back !== null}
        onClose={() => bring(null)}
        title={back === null ? "" : `Roll back to ${nameOf(back)}?`}
        about="New executions use it from then on. Those that run go on as they began; no version is lost."
        verb="Roll back"
        onConfirm={async () => {
          if (back === null) return;
          const body = { version: back.version, revision: back.revision };
          await answer(svc.POST("/v1/agents/{id}/rollback", { params: { path: { id } }, body }));
          tell(`Rolled back to ${nameOf(back)}`);
          await queries.invalidateQueries({ queryKey: ["agent"] });
        }}
      />
    </Panel>
  );
}
