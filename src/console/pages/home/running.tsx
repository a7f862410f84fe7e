/** What runs at this moment. */
import { useQuery } from "@tanstack/react-query";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Duration } from "../../kit/values/time.tsx";
import { Row } from "./row.tsx";

const shown = 8;

export function Running() {
  const can = useCan();
  const executions = useQuery({
    queryKey: ["execution", "list", "home-live"],
    queryFn: () => answer(svc.GET("/v1/executions", { params: { query: { status: "pending,running", limit: 50 } } })),
    enabled: can("execution:list"),
  });
  const runs = useQuery({
    queryKey: ["run", "list", "home-live"],
    queryFn: () =>
      answer(svc.GET("/v1/workflows/executions", { params: { query: { status: "pending,running", limit: 50 } } })),
    enabled: can("workflow:list"),
  });
  const asked = [executions, runs].filter(({ isEnabled }) => isEnabled);
  if (asked.length === 0) return null;
  const failed = asked.find(({ error }) => error !== null);
  const live = executions.data?.items ?? [];
  const going = runs.data?.items ?? [];
  const count = live.length + going.length;
  return (
    <Panel title="Runs now" beside={count > 0 && <Badge tone="info">{count}</Badge>} flush={count > 0}>
      {failed !== undefined ? (
        <Trouble error={failed.error} retry={() => void failed.refetch()} />
      ) : asked.some(({ isPending }) => isPending) ? (
        <Loading lines={2} />
      ) : count === 0 ? (
        <p className="m-0 text-ink-soft">Nothing runs at this moment.</p>
      ) : (
        <ul className="m-0 list-none p-0">
          {going.slice(0, shown).map((run) => (
            <Row
              key={run.id}
              to={`/runs/${run.id}`}
              sign={<Status status={run.status} label="" bare />}
              title={inert(run.workflow_name)}
              about={run.current_state === null ? "workflow" : `workflow, in ${inert(run.current_state)}`}
              beside={<Duration from={run.started_at} to={null} />}
            />
          ))}
          {live.slice(0, shown).map((one) => (
            <Row
              key={one.id}
              to={`/executions/${one.id}`}
              sign={<Status status={one.waiting_for === null ? one.status : "waiting"} label="" bare />}
              title={inert(one.agent_name)}
              about={
                one.waiting_for === null
                  ? `iteration ${one.current_iteration} of ${one.max_iterations}`
                  : `asks a person about ${inert(one.waiting_for.tool)}`
              }
              beside={<Duration from={one.started_at} to={null} />}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}
