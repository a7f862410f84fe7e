/** What a run waits for and why, with the action that moves it on. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bell, CirclePause, Clock, Layers, Radio, ShieldQuestion, UserCheck } from "lucide-react";
import type { ReactNode } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Loading, Trouble } from "../../../kit/page.tsx";
import { Readable } from "../../../kit/values/readable.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { Countdown } from "../../approvals/countdown.tsx";
import { Decide } from "../../approvals/decide.tsx";
import { useApproval } from "../../approvals/queries.ts";
import { CallShown } from "../../approvals/tool-call.tsx";
import { type Definition, objectOf, textOf } from "../../workflows/model/definition.ts";
import type { Entry } from "../model/entries.ts";
import { type RunRecord, useDefinition, useRun } from "../model/queries.ts";
import { Progress } from "./items.tsx";
import { PauseButton } from "./pause.tsx";
import { SignalForm } from "./signal.tsx";

/** One thing that a run waits for. */
export interface Wait {
  readonly kind: "approval" | "tool_call" | "time" | "signal" | "stimulus";
  readonly state: string;
  readonly approvalId: string | null;
  readonly until: string | null;
}

/** What the record tells, and what the open entries of the log tell beside it: branches wait side by side. */
export function waitsOf(run: RunRecord, entries: readonly Entry[], definition: Definition | null): readonly Wait[] {
  const told = run.waiting_for;
  const waits: Wait[] =
    told === null
      ? []
      : [{ kind: told.kind, state: told.state_name, approvalId: told.approval_id ?? null, until: told.expires_at }];
  for (const { state, exitedAt, approvalId } of entries) {
    if (exitedAt !== null || waits.some((wait) => wait.state === state)) continue;
    const written = definition?.states.find(({ name }) => name === state);
    if (written?.kind === "Human" && approvalId !== null)
      waits.push({ kind: "approval", state, approvalId, until: null });
    if (written?.kind !== "Wait") continue;
    const { signal, stimulus } = written.written;
    const kind = signal !== undefined ? "signal" : stimulus !== undefined ? "stimulus" : "time";
    waits.push({ kind, state, approvalId: null, until: null });
  }
  return waits;
}

export function Waits({
  run,
  waits,
  entries,
  definition,
}: {
  readonly run: RunRecord;
  readonly waits: readonly Wait[];
  readonly entries: readonly Entry[];
  readonly definition: Definition | null;
}) {
  const can = useCan();
  const open = entries.filter(({ exitedAt }) => exitedAt === null);
  const children = open.flatMap(({ state, children }) => children.map((id) => ({ state, id })));
  const retrying = open.flatMap((entry) => {
    const last = entry.attempts.at(-1);
    return last !== undefined && Date.parse(last.nextAt) > Date.now() ? [{ entry, last }] : [];
  });
  return (
    <>
      {run.paused_at !== null && run.ended_at === null && (
        <Card icon={CirclePause} tone="warn" title="Paused">
          <p className="m-0">
            Work under way ends and is kept; no further state is entered. Paused <Ago at={run.paused_at} />.
          </p>
          {can("workflow:cancel") && <PauseButton run={run} />}
        </Card>
      )}
      {run.status === "pending" && (
        <Card icon={Clock} title="Waits for a free place">
          All places of the nodes are taken; it begins as soon as one is free.
        </Card>
      )}
      {waits.map((wait) => (
        <WaitCard key={`${wait.kind} ${wait.state}`} runId={run.id} wait={wait} definition={definition} />
      ))}
      {run.ended_at === null &&
        open
          .filter(({ state }) => definition?.states.some(({ name, kind }) => name === state && kind === "Map"))
          .map((entry) => <MapWaits key={entry.key} runId={run.id} entry={entry} />)}
      {retrying.map(({ entry, last }) => (
        <Card key={entry.key} icon={Clock} title={`${entry.state} is tried again`}>
          Attempt {last.attempt} begins in <Countdown to={last.nextAt} />. The last one failed: {inert(last.error)}
        </Card>
      ))}
      {children.slice(0, 5).map(({ state, id }) => (
        <ChildWaits key={id} state={state} id={id} />
      ))}
    </>
  );
}

/** As many items are shown of those that are at work. */
const itemsShown = 3;

/** How far the items of a Map are, and what the first that are at work wait for. */
function MapWaits({ runId, entry: { state, visit, progress } }: { readonly runId: string; readonly entry: Entry }) {
  const running = useQuery({
    // Each news of an item may have ended another.
    queryKey: ["run-items", runId, state, visit, "at work", progress],
    queryFn: () =>
      answer(
        svc.GET("/v1/workflows/executions/{id}/items", {
          params: { path: { id: runId }, query: { state, visit, status: "running", limit: 50 } },
        }),
      ),
    placeholderData: (known) => known,
  });
  const { items = [], next_cursor: more = null } = running.data ?? {};
  const runs = items.flatMap(({ execution_id: id }) => (id === null ? [] : [id])).slice(0, itemsShown);
  return (
    <>
      <Card icon={Layers} tone="info" title={`Works through the items of ${state}`}>
        {progress !== null && <Progress progress={progress} />}
        <p className="m-0 text-ink-soft">
          {items.length === 0
            ? "No item is at work at this moment."
            : `${items.length}${more === null ? "" : "+"} at work.`}{" "}
          {items.length > runs.length && runs.length > 0 && `What the first ${runs.length} wait for stands below.`}
        </p>
      </Card>
      {runs.map((id) => (
        <ChildWaits key={id} state={state} id={id} />
      ))}
    </>
  );
}

/** What a sub-run waits for: the run above it waits for the same. */
function ChildWaits({ state, id }: { readonly state: string; readonly id: string }) {
  const { data } = useRun(id);
  const definition = useDefinition(data?.workflow_id);
  const told = data?.waiting_for ?? null;
  if (data === undefined || told === null) return null;
  const wait = {
    kind: told.kind,
    state: told.state_name,
    approvalId: told.approval_id ?? null,
    until: told.expires_at,
  };
  return (
    <WaitCard
      runId={id}
      wait={wait}
      definition={definition}
      from={
        <>
          for the sub-run of {inert(state)}:{" "}
          <Link to="/runs/$id" params={{ id } as never} className="text-accent underline hover:no-underline">
            {inert(data.workflow_name)}
          </Link>
        </>
      }
    />
  );
}

const icons = { approval: UserCheck, tool_call: ShieldQuestion, time: Clock, signal: Bell, stimulus: Radio };

const titles = {
  approval: "Waits for a person",
  tool_call: "A tool call waits for a person",
  time: "Waits for a time",
  signal: "Waits for a signal",
  stimulus: "Waits for a stimulus",
};

function WaitCard({
  runId,
  wait,
  definition,
  from,
}: {
  readonly runId: string;
  readonly wait: Wait;
  readonly definition: Definition | null;
  readonly from?: ReactNode;
}) {
  const { kind, state, approvalId, until } = wait;
  const can = useCan();
  const written = definition?.states.find(({ name }) => name === state)?.written ?? {};
  const beside = (
    <span className="text-ink-soft text-xs">
      in <code>{inert(state)}</code> {from}
      {until !== null && (
        <>
          {" "}
          · <Countdown to={until} /> left
        </>
      )}
    </span>
  );
  if (kind === "approval" || kind === "tool_call")
    return (
      <Card icon={icons[kind]} title={titles[kind]} beside={beside}>
        {approvalId !== null && can("approval:read") ? (
          <Question id={approvalId} />
        ) : (
          "Who may decide finds it among the approvals."
        )}
      </Card>
    );
  if (kind === "signal") {
    const name = textOf(written.signal);
    return (
      <Card icon={icons.signal} title={titles.signal} beside={beside}>
        <p className="m-0">
          It goes on when it is sent {name === null ? "its signal" : <code>{inert(name)}</code>}
          {until === null ? "." : ", or when its time is up."}
        </p>
        {can("workflow:signal") && <SignalForm key={name} runId={runId} name={name ?? ""} />}
      </Card>
    );
  }
  if (kind === "stimulus") {
    const stimulus = objectOf(written.stimulus) ?? {};
    return (
      <Card icon={icons.stimulus} title={titles.stimulus} beside={beside}>
        <p className="m-0">
          It goes on with a delivery of the source <code>{inert(textOf(stimulus.source) ?? "?")}</code>
          {typeof stimulus.key === "string" && (
            <>
              {" "}
              whose <code>{inert(stimulus.key)}</code> is <code>{inert(String(stimulus.equals ?? ""))}</code>
            </>
          )}
          .
        </p>
      </Card>
    );
  }
  return (
    <Card icon={icons.time} title={titles.time} beside={beside}>
      {until === null ? (
        "Nothing has to be done: it goes on by itself."
      ) : (
        <>
          It goes on by itself <Ago at={until} />.
        </>
      )}
    </Card>
  );
}

function Question({ id }: { readonly id: string }) {
  const { data, error } = useApproval(id);
  if (error !== null) return <Trouble error={error} />;
  if (data === undefined) return <Loading lines={2} />;
  if (data.status !== "pending") return <p className="m-0">It was decided just now: {inert(data.status)}.</p>;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {data.tool_call == null ? <Readable text={data.prompt} /> : <CallShown approval={data} call={data.tool_call} />}
      <Decide approval={data} />
    </div>
  );
}

export function Card({
  icon: Icon,
  title,
  beside,
  tone = "violet",
  children,
}: {
  readonly icon: typeof Clock;
  readonly title: string;
  readonly beside?: ReactNode;
  readonly tone?: "violet" | "info" | "warn" | "bad";
  readonly children: ReactNode;
}) {
  const looks = {
    violet: "border-violet/50 text-violet",
    info: "border-info/40 text-info",
    warn: "border-warn/50 text-warn",
    bad: "border-bad/50 text-bad",
  };
  return (
    <section
      aria-label={title}
      className={`flex min-w-0 gap-3 rounded-panel border bg-surface p-3 sm:p-4 ${looks[tone]}`}
    >
      <Icon aria-hidden className="mt-0.5 size-5 shrink-0" />
      <div className="flex min-w-0 flex-1 flex-col gap-2 text-ink">
        <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <h2 className="m-0 font-semibold text-[0.95rem]">{title}</h2>
          {beside}
        </div>
        <div className="flex min-w-0 flex-col gap-3">{children}</div>
      </div>
    </section>
  );
}
