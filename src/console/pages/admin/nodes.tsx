/** The nodes of the service: what each carries, and whether it answers. */
import { useQuery } from "@tanstack/react-query";
import { Network } from "lucide-react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable } from "../../kit/values/text.tsx";
import { Ago, durationText } from "../../kit/values/time.tsx";
import { Meter } from "../account/meter.tsx";

type Node = Omit<Schemas["ClusterNode"], "grpc_address">;

const healths: Readonly<Record<string, string>> = { healthy: "active", degraded: "paused", critical: "failed" };
const signs: Readonly<Record<Node["status"], string>> = { active: "active", draining: "paused", unhealthy: "failed" };

export function Nodes() {
  const { data, error, refetch } = useQuery({
    queryKey: ["node", "list"],
    queryFn: () => answer(svc.GET("/v1/cluster/status")),
  });
  return (
    <Page
      title="Nodes"
      beside={
        data !== undefined && <Status status={healths[data.cluster_health] ?? "active"} label={data.cluster_health} />
      }
      about={
        data !== undefined &&
        `${data.active_nodes} of ${data.total_nodes} active, up for ${durationText(data.uptime_seconds * 1000)}`
      }
    >
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <Trouble error={error} retry={() => void refetch()} />
        )
      ) : data.nodes.length === 0 ? (
        <Empty icon={Network} title="No node has reported itself" />
      ) : (
        <ul className="m-0 grid list-none gap-4 p-0 lg:grid-cols-2 2xl:grid-cols-3">
          {data.nodes.map((node) => (
            <li key={node.node_id}>
              <NodePanel node={node} isController={node.node_id === data.controller_node_id} />
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

function NodePanel({ node, isController }: { readonly node: Node; readonly isController: boolean }) {
  const { running_executions: running, max_executions: most } = node.capacity;
  return (
    <Panel
      title={node.hostname}
      beside={
        <>
          <Status status={signs[node.status]} label={node.status} />
          {isController && <Badge tone="violet">controller</Badge>}
        </>
      }
    >
      <Facts
        of={[
          ["Id", <Copyable key="id" value={node.node_id} short />],
          ["Version", node.version],
          ["Heard", <Ago key="heard" at={node.last_heartbeat_at} />],
          ["Since", <Ago key="since" at={node.registered_at} />],
          ["Cores, memory", `${node.cpu_cores}, ${node.available_memory_gb.toFixed(1)} GB free`],
          ["Runtimes", node.supported_runtimes.map((one) => <Badge key={one}>{one}</Badge>)],
        ]}
      />
      <p className="mt-3 mb-1 flex text-ink-soft text-xs">
        Executions
        <span className="ml-auto tabular-nums">
          {running} of {most}
        </span>
      </p>
      <Meter label="Executions" used={running} limit={most} />
    </Panel>
  );
}
