/** How the nodes are, for those who may see them. */
import { useQuery } from "@tanstack/react-query";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

const shown = 8;
const statusOf = { active: "active", draining: "paused", unhealthy: "failed" } as const;

export function Nodes() {
  const can = useCan();
  const { operator } = useMe();
  const nodes = useQuery({
    queryKey: ["node", "list"],
    queryFn: () => answer(svc.GET("/v1/cluster/nodes")),
    enabled: can("node:list"),
  });
  if (!nodes.isEnabled) return null;
  const order = { active: 0, draining: 1, unhealthy: 2 } as const;
  const items = [...(nodes.data?.items ?? [])].sort((a, b) => order[a.status] - order[b.status]);
  return (
    <Panel
      title="Nodes"
      flush={items.length > 0}
      actions={
        operator && (
          <ButtonLink small look="ghost" to={"/admin/nodes" as never}>
            See all
          </ButtonLink>
        )
      }
    >
      {nodes.error !== null ? (
        <Trouble error={nodes.error} retry={() => void nodes.refetch()} />
      ) : nodes.data === undefined ? (
        <Loading lines={2} />
      ) : (
        <ul className="m-0 list-none p-0">
          {items.slice(0, shown).map((node) => (
            <li key={node.id} className="flex items-center gap-3 border-line border-b px-4 py-2 last:border-b-0">
              <Status status={statusOf[node.status]} label={node.status} />
              <span className="min-w-0 flex-1 truncate" title={node.id}>
                {inert(node.hostname)} <span className="text-ink-faint text-xs">{node.id.slice(-6)}</span>
              </span>
              <span className="shrink-0 text-ink-soft text-xs tabular-nums">
                {node.status === "unhealthy" ? (
                  <>
                    last heard of <Ago at={node.last_heartbeat_at} />
                  </>
                ) : (
                  `${node.capacity.running_executions} of ${node.capacity.max_executions}`
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
