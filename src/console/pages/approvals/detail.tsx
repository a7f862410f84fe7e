/** One approval: what is asked, what came before it, and the decision. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpRight, Mail } from "lucide-react";
import { type ReactNode, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Who } from "../../app/who.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Facts, Loading, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Readable } from "../../kit/values/readable.tsx";
import { Badge, Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Countdown } from "./countdown.tsx";
import { Decide, nameOf } from "./decide.tsx";
import { IssueLink } from "./links.tsx";
import { type ApprovalRecord, kindWords, originOf, useApproval } from "./queries.ts";
import { CallShown } from "./tool-call.tsx";

/** Runs on at least so many hosts are approved with their number typed. */
const manyHosts = 10;

interface DetailProps {
  readonly id: string;
  readonly onDecided: () => void;
  /** On narrow screens: back to the list. */
  readonly back?: ReactNode;
}

export function Detail({ id, onDecided, back }: DetailProps) {
  const { data, error, isPending, refetch } = useApproval(id);
  if (isPending) return <Loading lines={6} className="p-5" />;
  if (error !== null)
    return (
      <div className="p-4">
        {back}
        <Trouble error={error} retry={() => void refetch()} />
      </div>
    );
  return <Shown key={id} approval={data} onDecided={onDecided} back={back} />;
}

function Shown({ approval, onDecided, back }: Omit<DetailProps, "id"> & { readonly approval: ApprovalRecord }) {
  const can = useCan();
  const [isLinking, link] = useState(false);
  const isPending = approval.status === "pending";
  const origin = originOf(approval);
  const fleet = useFleetRun(approval);
  const call = approval.tool_call ?? null;
  const hosts = fleet?.targets_resolved ?? 0;
  const large =
    approval.kind === "fleet_run" && hosts >= manyHosts
      ? {
          about: `${fleet?.tool ?? "It"} runs on ${hosts} hosts as soon as it is approved. That cannot be undone.`,
          typed: String(hosts),
        }
      : null;
  // An approval without hosts named in its tool call is sent to no one by e-mail.
  const mayLink = isPending && can("approval:approve") && call === null;
  return (
    <article aria-label="Approval" className="flex min-w-0 flex-col gap-5 p-4 sm:p-5">
      {back}
      <header className="flex flex-col gap-1.5">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <h2 className="m-0 min-w-0 break-words font-semibold text-lg leading-6">{inert(nameOf(approval))}</h2>
          <Badge tone="violet">{kindWords[approval.kind] ?? approval.kind}</Badge>
          <Status
            status={isPending ? "waiting" : approval.status}
            label={isPending ? "waits for you" : wordsOf(approval.status)}
          />
          <span className="ml-auto flex items-center gap-1">
            {mayLink && (
              <Button small look="ghost" onClick={() => link(true)}>
                <Mail aria-hidden />
                Link to send by e-mail
              </Button>
            )}
          </span>
        </div>
        <p className="m-0 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-ink-soft text-xs">
          <span>
            asked <Ago at={approval.created_at} />
          </span>
          {isPending && (
            <span>
              <Countdown to={approval.expires_at} /> left
            </span>
          )}
          {origin !== null && (
            <Link to={origin.path} className="inline-flex items-center gap-0.5 text-accent hover:underline">
              {origin.label}
              <ArrowUpRight aria-hidden className="size-3" />
            </Link>
          )}
          <Copyable value={approval.id} short />
        </p>
      </header>

      {!isPending && <Outcome approval={approval} />}

      {call === null ? <Readable text={approval.prompt} /> : <CallShown approval={approval} call={call} />}
      {fleet !== null && (
        <Facts
          of={[
            ["Tool", <code key="tool">{inert(fleet.tool)}</code>],
            ["Hosts", `${fleet.targets_resolved} resolved, ${fleet.targets_skipped} skipped`],
            ["Arguments", <Value key="args" value={fleet.args} />],
            ["Target", <Value key="target" value={fleet.target} open={3} />],
            ["Asked for by", <Who key="by" of={fleet.requested_by} />],
          ]}
        />
      )}

      {isPending && (
        <div className="border-line border-t pt-4">
          <Decide approval={approval} keys large={large} onDecided={onDecided} />
          <Rules approval={approval} />
        </div>
      )}
      {approval.workflow_execution_id !== null && can("workflow:read") && (
        <Before runId={approval.workflow_execution_id} />
      )}
      <History approval={approval} />
      {isLinking && <IssueLink approval={approval} onClose={() => link(false)} />}
    </article>
  );
}

function useFleetRun({ kind, execution_id, fleet_command_id }: ApprovalRecord) {
  const can = useCan();
  const id = fleet_command_id ?? execution_id;
  const { data } = useQuery({
    queryKey: ["fleet_run", "one", id],
    queryFn: () => answer(svc.GET("/v1/edge/fleet/runs/{id}", { params: { path: { id } } })),
    enabled: kind === "fleet_run" && can("aegis.edge.fleet.read"),
  });
  return data ?? null;
}

/** Who may decide, and what happens when no person does. */
function Rules({ approval }: { readonly approval: ApprovalRecord }) {
  const { approvers, required_role, quorum, approvals, default_response, reject_on_timeout } = approval;
  const late =
    default_response !== null
      ? `it counts as answered with “${inert(default_response)}”`
      : reject_on_timeout
        ? "it is rejected"
        : "the state fails: it timed out";
  return (
    <p className="mt-3 mb-0 text-ink-faint text-xs">
      {approvers.length === 0
        ? "Each person who may approve can decide."
        : `Only ${inert(approvers.join(", "))} can decide.`}
      {required_role !== null && ` The role ${inert(required_role)} is needed.`}
      {quorum > 1 && ` ${approvals} of ${quorum} people have approved.`} Without a decision {late}.
    </p>
  );
}

function Outcome({ approval }: { readonly approval: ApprovalRecord }) {
  const { decided_by, feedback, response, decided_at, via } = approval;
  return (
    <div className="rounded-panel border border-line bg-sunken p-3">
      <p className="m-0 flex flex-wrap items-center gap-x-2 font-medium">
        <Status status={approval.status} bare />
        <span className="font-normal text-ink-soft text-xs">
          <Ago at={decided_at} />
          {decided_by !== null && (
            <>
              {" "}
              by <Who of={decided_by} />
            </>
          )}
          {via !== null && <> ({wordsOf(via)})</>}
        </span>
      </p>
      {response !== null && response !== "" && response !== approval.status && (
        <p className="mt-1 mb-0">Response: {inert(response)}</p>
      )}
      {feedback !== null && feedback !== "" && (
        <p dir="auto" className="mt-1 mb-0 whitespace-pre-wrap break-words">
          {inert(feedback)}
        </p>
      )}
    </div>
  );
}

/** What the run was given and what its states came to: opened by the reader. */
function Before({ runId }: { readonly runId: string }) {
  const [isOpen, open] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["run", "one", runId],
    queryFn: () => answer(svc.GET("/v1/workflows/executions/{id}", { params: { path: { id: runId } } })),
    enabled: isOpen,
  });
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary className="cursor-pointer font-medium text-ink-soft text-xs">
        What the run was given and has done
      </summary>
      <div className="mt-2 flex flex-col gap-3">
        {error !== null && <Trouble error={error} />}
        {isOpen && data === undefined && error === null && <Loading lines={3} />}
        {data !== undefined && (
          <>
            <div>
              <h3 className="m-0 mb-1 text-ink-soft text-xs">Input</h3>
              <Value value={data.input} />
            </div>
            {Object.entries(data.state_outputs).map(([state, output]) => (
              <div key={state}>
                <h3 className="m-0 mb-1 text-ink-soft text-xs">{inert(state)}</h3>
                <Value value={output} open={1} />
              </div>
            ))}
          </>
        )}
      </div>
    </details>
  );
}

function History({ approval }: { readonly approval: ApprovalRecord }) {
  return (
    <details open={approval.status !== "pending"}>
      <summary className="cursor-pointer font-medium text-ink-soft text-xs">History ({approval.events.length})</summary>
      <ol className="m-0 mt-2 flex list-none flex-col gap-1.5 border-line border-l p-0 pl-4">
        {approval.events.map(({ sequence, type, at, actor, via, note }) => (
          <li key={sequence} className="text-xs">
            <span className="font-medium">{wordsOf(type)}</span>{" "}
            {actor !== null && (
              <span>
                by <Who of={actor} />{" "}
              </span>
            )}
            {via !== null && <span className="text-ink-faint">({wordsOf(via)}) </span>}
            <Ago at={at} className="text-ink-faint tabular-nums" />
            {note !== null && <span className="block break-words text-ink-soft">{inert(note)}</span>}
          </li>
        ))}
      </ol>
    </details>
  );
}
