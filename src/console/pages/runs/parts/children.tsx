/** Runs and agent executions that a run started. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Workflow } from "lucide-react";
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

const useRunsOf = (runId: string) =>
  useQuery({
    queryKey: ["run", "list", "of-run", runId],
    queryFn: () =>
      answer(svc.GET("/v1/workflows/executions", { params: { query: { parent_execution_id: runId, limit: 100 } } })),
  });

export function Children({ runId }: { readonly runId: string }) {
  const runs = useRunsOf(runId);
  const executions = useExecutionsOf(runId);
  const error = runs.error ?? executions.error;
  if (error !== null) return <Trouble error={error} />;
  if (runs.data === undefined) return <Loading />;
  const agents = executions.data?.items ?? [];
  if (runs.data.items.length === 0 && agents.length === 0)
    return (
      <Empty icon={Workflow} title="It started nothing">
        Agent executions and sub-runs of its states stand here.
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
    </ul>
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
  readonly icon: "run" | "execution";
  readonly path: string;
  readonly name: string;
  readonly id: string;
  readonly status: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly error: string | null;
  readonly at?: string | null;
}) {
  const Icon = icon === "run" ? Workflow : Bot;
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
