/** What a call came to that was tried here: its result, who is asked, or which rule refused it. */

import { useQuery } from "@tanstack/react-query";
import { CheckCircle2, CircleAlert, CircleDashed, LoaderCircle } from "lucide-react";
import { useEffect } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { ApiError } from "../../../../programs/client/errors.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { TextLink } from "../../../kit/controls/link.tsx";
import { Facts, Panel, Trouble } from "../../../kit/page.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago, durationText } from "../../../kit/values/time.tsx";
import { constraintText } from "../../contexts/words.ts";
import type { Trial } from "./signed-call.ts";
import { ToolResult } from "./tool-result.tsx";

/** No stream tells of the end of a call, ms. */
const readEveryMs = 1_000;

export function TrialResult({
  trial,
  onOver,
}: {
  readonly trial: Trial;
  readonly onOver: (session: string) => Promise<void>;
}) {
  const { result, error, tookMs, session } = trial;
  const status = statusOf(trial);
  return (
    <Panel
      title="Result"
      beside={<Status status={status} />}
      actions={tookMs !== null && <span className="text-ink-soft text-xs">{durationText(tookMs)}</span>}
    >
      <div aria-live="polite" className="flex min-w-0 flex-col gap-4">
        {error !== null && <Refused error={error} />}
        {result !== null && result.status === "pending" ? (
          <Waits trial={trial} pending={result} onOver={onOver} />
        ) : (
          result !== null && <ToolResult result={result} />
        )}
        <Steps trial={trial} />
        {session !== null && trial.phase === "over" && <Recorded session={session.id} />}
      </div>
    </Panel>
  );
}

function statusOf({ phase, error, result }: Trial): string {
  if (error !== null) return error instanceof ApiError && error.status < 500 ? "refused" : "failed";
  if (result === null) return "running";
  if (result.status === "pending") return phase === "waiting" ? "waiting" : "completed";
  return result.isError === true ? "failed" : "success";
}

/** Which rule of which context. */
function Refused({ error }: { readonly error: unknown }) {
  const refusal =
    error instanceof ApiError ? (error.body.error as { readonly details?: Record<string, unknown> }) : null;
  const { security_context: context, capability_index: index, constraint, attempted, allowed } = refusal?.details ?? {};
  return (
    <div className="flex flex-col gap-3">
      <Trouble error={error} />
      {typeof context === "string" && (
        <Facts
          of={[
            [
              "Decided by",
              <TextLink key="context" to={`/security-contexts/${context}`}>
                {inert(context)}
                {typeof index === "number" ? `, rule ${index + 1}` : ""}
              </TextLink>,
            ],
            ["Because of", typeof constraint === "string" ? constraintText(constraint) : null],
            ...(attempted === undefined
              ? []
              : [["Asked for", <code key="attempted">{inert(textOf(attempted))}</code>] as const]),
            ...(allowed === undefined
              ? []
              : [["Allowed", <code key="allowed">{inert(textOf(allowed))}</code>] as const]),
          ]}
        />
      )}
    </div>
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A person is asked; what the call comes to is shown here once it is known. */
function Waits({
  trial,
  pending,
  onOver,
}: {
  readonly trial: Trial;
  readonly pending: Readonly<Record<string, unknown>>;
  readonly onOver: (session: string) => Promise<void>;
}) {
  const can = useCan();
  const id = String(pending.invocation_id);
  const approval = String(pending.approval_id);
  const expires = typeof pending.expires_at === "string" ? pending.expires_at : null;
  const call = useQuery({
    queryKey: ["approval", "one", approval, "invocation", id],
    queryFn: () => answer(svc.GET("/v1/tool-invocations/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) =>
      state.data === undefined || ["waiting", "running"].includes(state.data.outcome) ? readEveryMs : false,
    enabled: can("execution:read"),
  });
  const outcome = call.data?.outcome ?? "waiting";
  const isOver = !["waiting", "running"].includes(outcome);
  const session = trial.session?.id;
  const isLeft = trial.phase === "waiting";
  useEffect(() => {
    if (isOver && isLeft && session !== undefined) void onOver(session);
  }, [isOver, isLeft, session, onOver]);
  if (isOver)
    return (
      <div className="flex flex-col gap-2">
        <p className="m-0 flex items-center gap-2">
          It is over: <Status status={outcome} />
          <TextLink to={`/approvals/${approval}`}>the approval</TextLink>
        </p>
        {call.data?.result != null && <ToolResult result={call.data.result as Record<string, unknown>} />}
      </div>
    );
  return (
    <p className="m-0">
      A person is asked first.{" "}
      <TextLink to={`/approvals/${approval}`} apart>
        Open the approval
      </TextLink>
      {expires !== null && (
        <>
          ; it ends <Ago at={expires} />
        </>
      )}
      . The result comes here once it is decided; the session stays open until then.
    </p>
  );
}

type Sign = "done" | "now" | "failed" | "open";

/** What was done, in order. */
function Steps({ trial }: { readonly trial: Trial }) {
  const { phase, session, error, result, isEnded } = trial;
  const called: Sign = result !== null ? "done" : error !== null ? "failed" : session === null ? "open" : "now";
  const ended: Sign = isEnded ? "done" : phase === "ending" ? "now" : "open";
  const steps: readonly (readonly [Sign, React.ReactNode])[] = [
    [
      session !== null ? "done" : error !== null ? "failed" : "now",
      session === null ? (
        "Session opened with a new key"
      ) : (
        <>
          Session <SessionLink id={session.id} /> opened with a new key, under{" "}
          <TextLink to={`/security-contexts/${session.securityContext}`}>{inert(session.securityContext)}</TextLink>
        </>
      ),
    ],
    [called, error !== null && session !== null ? "Call signed, and refused" : "Call signed and answered"],
    [
      ended,
      session !== null && phase === "over" && !isEnded ? (
        <>
          Session left open: it ends by itself <Ago at={session.expiresAt} />
        </>
      ) : (
        "Session ended"
      ),
    ],
  ];
  return (
    <ol className="m-0 flex list-none flex-col gap-1 p-0 text-ink-soft text-xs">
      {steps.map(([sign, text], place) => (
        // There are always the same three.
        <li key={String(place)} className="flex items-center gap-1.5">
          <Mark sign={sign} />
          <span className="min-w-0">{text}</span>
        </li>
      ))}
    </ol>
  );
}

function Mark({ sign }: { readonly sign: Sign }) {
  switch (sign) {
    case "done":
      return <CheckCircle2 aria-label="done" className="size-3.5 shrink-0 text-good" />;
    case "failed":
      return <CircleAlert aria-label="failed" className="size-3.5 shrink-0 text-bad" />;
    case "now":
      return <LoaderCircle aria-label="under way" className="size-3.5 shrink-0 animate-spin text-info" />;
    case "open":
      return <CircleDashed aria-label="not done" className="size-3.5 shrink-0 text-ink-faint" />;
  }
}

function SessionLink({ id }: { readonly id: string }) {
  const can = useCan();
  const text = <code className="text-xs">…{id.slice(-6)}</code>;
  return can("seal:read") ? <TextLink to={`/seal-sessions/${id}`}>{text}</TextLink> : text;
}

/** The record of the call, which is written a moment after the answer. */
function Recorded({ session }: { readonly session: string }) {
  const can = useCan();
  const records = useQuery({
    queryKey: ["tool_call", "one", "of", session],
    queryFn: () => answer(svc.GET("/v1/tool-invocations", { params: { query: { session_id: session, limit: 1 } } })),
    enabled: can("execution:read"),
  });
  const [record] = records.data?.items ?? [];
  if (record === undefined) return null;
  return (
    <p className="m-0 text-xs">
      <TextLink to={`/tools/calls/${record.id}`}>The record of this call</TextLink>
    </p>
  );
}
