/** Runs and agent executions that a run started. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Server, Workflow } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Empty, Loading, Trouble } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Duration } from "../../../kit/values/time.tsx";
import { useRun } from "../model/queries.ts";

type Execution = Schemas["Execution"];

/** As many are shown of each kind. */
const most = 200;

export function useExecutionsOf(runId: string) {
  const can = useCan();
  return useQuery({
    queryKey: ["execution", "list", "of-run", runId],
    queryFn: () =>
      answer(svc.GET("/v1/executions", { params: { query: { workflow_execution_id: runId, limit: most } } })),
    enabled: can("execution:list"),
  });
}

/** Runs over hosts that it asked for: the newest of the tenant are looked through. */
export function useFleetRunsOf(runId: string, isAsked: boolean) {
  const can = useCan();
  return useQuery({
    queryKey: ["fleet_run", "list", "of-run", runId],
    queryFn: async () => {
      const { runs } = await answer(svc.GET("/v1/edge/fleet/runs", { params: { query: { limit: most } } }));
      return runs.filter(({ requested_by }) => requested_by.execution_id === runId);
    },
    enabled: isAsked && can("aegis.edge.fleet.read"),
  });
}

const useRunsOf = (runId: string) =>
  useQuery({
    queryKey: ["run", "list", "of-run", runId],
    queryFn: () =>
      answer(svc.GET("/v1/workflows/executions", { params: { query: { parent_execution_id: runId, limit: 100 } } })),
  });

interface ChildrenProps {
  readonly runId: string;
  /** Runs over hosts whose ids its states name; others are looked for. */
  readonly fleetRuns: readonly string[];
}

export function Children({ runId, fleetRuns }: ChildrenProps) {
  const can = useCan();
  const runs = useRunsOf(runId);
  const executions = useExecutionsOf(runId);
  const fleet = useFleetRunsOf(runId, true);
  const error = runs.error ?? executions.error ?? fleet.error;
  if (error !== null) return <Trouble error={error} />;
  if (runs.data === undefined) return <Loading />;
  const agents = executions.data?.items ?? [];
  const found = fleet.data?.map(({ id }) => id) ?? [];
  const onHosts = can("aegis.edge.fleet.read") ? [...new Set([...found, ...fleetRuns])] : [];
  if (runs.data.items.length === 0 && agents.length === 0 && onHosts.length === 0)
    return (
      <Empty icon={Workflow} title="It started nothing">
        Agent executions, sub-runs and runs over hosts of its states stand here.
      </Empty>
    );
  return (
    <ul aria-label="What it started" className="m-0 flex list-none flex-col gap-2 p-0">
      {runs.data.items.map((run) => (
        <li key={run.id}>
          <ChildRow
            icon="run"
            path={`/runs/${run.id}`}
            name={run.workflow_name}
            id={run.id}
            status={run.status}
            from={run.started_at}
            to={run.ended_at}
            error={run.error}
          />
        </li>
      ))}
      {agents.map((one) => (
        <li key={one.id}>
          <ExecutionRow execution={one} />
        </li>
      ))}
      {onHosts.map((id) => (
        <li key={id}>
          <FleetRow id={id} />
        </li>
      ))}
    </ul>
  );
}

/** A run over hosts where it was asked for. */
export function FleetRow({ id }: { readonly id: string }) {
  const { data, error } = useQuery({
    queryKey: ["fleet_run", "one", id],
    queryFn: () => answer(svc.GET("/v1/edge/fleet/runs/{id}", { params: { path: { id }, query: { limit: 1 } } })),
  });
  if (error !== null) return <Trouble error={error} />;
  if (data === undefined) return <Loading lines={1} />;
  const hosts = data.targets_resolved;
  return (
    <ChildRow
      icon="fleet"
      path={`/fleet/runs/${id}`}
      name={`${data.tool} on ${hosts} ${hosts === 1 ? "host" : "hosts"}`}
      id={id}
      status={data.status === "complete" && data.summary.failed > 0 ? "failed" : data.status}
      from={data.started_at}
      to={data.ended_at}
      error={data.reason}
    />
  );
}

export function ExecutionRow({ execution: one }: { readonly execution: Execution }) {
  return (
    <ChildRow
      icon="execution"
      path={`/executions/${one.id}`}
      name={one.agent_name}
      id={one.id}
      status={one.status}
      from={one.started_at}
      to={one.ended_at}
      error={one.error}
    />
  );
}

/** A sub-run where it was started: what it was given, what came of it. */
export function SubRun({ id }: { readonly id: string }) {
  const { data, error, isPending } = useRun(id);
  if (error !== null) return <Trouble error={error} />;
  if (isPending) return <Loading lines={2} />;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <ChildRow
        icon="run"
        path={`/runs/${id}`}
        name={data.workflow_name}
        id={id}
        status={data.waiting_for === null ? data.status : "waiting"}
        from={data.started_at}
        to={data.ended_at}
        error={data.error}
        at={data.ended_at === null ? data.current_state : null}
      />
      <details>
        <summary className="cursor-pointer text-ink-soft text-xs">What the sub-run was given</summary>
        <div className="mt-1">
          <Value value={data.input} />
        </div>
      </details>
    </div>
  );
}

const icons = { run: Workflow, execution: Bot, fleet: Server };

function ChildRow({
  icon,
  path,
  name,
  id,
  status,
  from,
  to,
  error,
  at = null,
}: {
  readonly icon: keyof typeof icons;
  readonly path: string;
  readonly name: string;
  readonly id: string;
  readonly status: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly error: string | null;
  readonly at?: string | null;
}) {
  const Icon = icons[icon];
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 rounded-control border border-line bg-surface px-3 py-2">
      <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
      <Link to={path} className="min-w-0 truncate font-medium text-accent hover:underline">
        {inert(name)}
      </Link>
      <Status status={status} />
      {at !== null && <code className="text-ink-soft text-xs">{inert(at)}</code>}
      <span className="text-ink-soft text-xs">
        <Duration from={from} to={to} />
      </span>
      <span className="ml-auto">
        <Copyable value={id} short />
      </span>
      {error !== null && <p className="m-0 w-full break-words text-bad text-xs">{inert(error)}</p>}
    </div>
  );
}
