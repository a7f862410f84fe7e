/** What became of a delivery: how it was let in, where it was routed and why, what it started or woke. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, CircleAlert, CircleCheck, Clock } from "lucide-react";
import type { ReactNode } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { classes } from "../../../kit/controls/classes.ts";
import { Facts, Panel } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { presetHeaders, presetNames, remedies, routings } from "../words.ts";

type Stimulus = Schemas["Stimulus"];

const link = "text-accent hover:underline";

/** The one thing to know first, with what moves it on. */
export function Became({ of }: { readonly of: Stimulus }) {
  const { status, workflow_execution_id: run, taken_by: taken } = of;
  if (status === "received")
    return (
      <Notice tone="info" icon={Clock}>
        <p className="m-0 font-medium">It is being routed.</p>
        <p className="m-0 text-ink-soft">
          {of.attempts > 0 && `${of.attempts} of 5 attempts failed${of.error_code === null ? "" : ": "}`}
          {of.attempts > 0 && of.error_code !== null && <code>{of.error_code}</code>}
          {of.attempts === 0
            ? "Nothing has to be done: this page follows it."
            : " The next attempt comes by itself, each after twice the time."}
        </p>
      </Notice>
    );
  if (status === "classified")
    return (
      <Notice tone="good" icon={CircleCheck}>
        {run !== null && (
          <p className="m-0">
            <span className="font-medium">It started </span>
            <Link to={`/runs/${run}`} className={link}>
              a run of {inert(of.classification ?? "a workflow")}
              <ArrowRight aria-hidden className="ml-0.5 inline size-3.5" />
            </Link>
          </p>
        )}
        <Woken runs={taken} />
      </Notice>
    );
  return <Failed of={of} />;
}

function Failed({ of }: { readonly of: Stimulus }) {
  const isDiscarded = of.status === "discarded";
  return (
    <Notice tone={isDiscarded ? "neutral" : "bad"} icon={CircleAlert}>
      <p className="m-0 font-medium">
        {isDiscarded ? "It was discarded" : "It started nothing"}
        {of.error_message !== null && (
          <span className="font-normal">
            {isDiscarded ? "; before, it came to nothing: " : ": "}
            {inert(of.error_message)}
          </span>
        )}
      </p>
      <p className="mt-0.5 mb-0 text-ink-soft">
        {of.error_code !== null && <code className="mr-2">{of.error_code}</code>}
        {of.attempts > 1 && `after ${of.attempts} attempts. `}
        {!isDiscarded && (remedies[of.error_code ?? ""] ?? "")}
      </p>
      {isDiscarded && (
        <p className="mt-0.5 mb-0 text-ink-soft">
          <Ago at={of.discarded_at} /> by <Who of={of.discarded_by ?? {}} />
          {of.discard_reason !== null && `: ${inert(of.discard_reason)}`}
        </p>
      )}
      {of.error_details !== null && Object.keys(of.error_details).length > 0 && (
        <div className="mt-2">
          <Value value={of.error_details} />
        </div>
      )}
      <Woken runs={of.taken_by} />
    </Notice>
  );
}

function Woken({ runs }: { readonly runs: readonly string[] }) {
  if (runs.length === 0) return null;
  return (
    <p className="m-0 flex flex-wrap items-center gap-x-2">
      <span className="font-medium">It woke {runs.length === 1 ? "a run" : `${runs.length} runs`} that waited:</span>
      {runs.map((id) => (
        <Link key={id} to={`/runs/${id}`} className={classes(link, "font-mono text-xs")}>
          …{id.slice(-8)}
        </Link>
      ))}
    </p>
  );
}

const frames = {
  good: "border-good/40 bg-good-soft",
  bad: "border-bad/40 bg-bad-soft",
  info: "border-info/40 bg-info-soft",
  neutral: "border-line bg-raised",
} as const;

function Notice({
  tone,
  icon: Icon,
  children,
}: {
  readonly tone: keyof typeof frames;
  readonly icon: typeof Clock;
  readonly children: ReactNode;
}) {
  return (
    <div role="status" className={classes("flex gap-3 rounded-panel border p-3", frames[tone])}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="flex min-w-0 flex-1 flex-col gap-1 break-words">{children}</div>
    </div>
  );
}

/** Who sent it, and what proves that. */
export function Arrival({ of }: { readonly of: Stimulus }) {
  const can = useCan();
  const { route_id: route } = of;
  const { data: source } = useQuery({
    queryKey: ["source", "one", route],
    queryFn: () => answer(svc.GET("/v1/stimulus-routes/{id}", { params: { path: { id: route ?? "" } } })),
    enabled: route !== null && can("stimulus:read"),
    retry: false,
  });
  const preset = source?.signature.preset;
  const verification: ReactNode =
    of.channel === "webhook" ? (
      <>
        <Badge tone="good">signature verified</Badge>{" "}
        {preset === undefined
          ? route === null
            ? "with the secret of the node's environment"
            : ""
          : `${presetNames[preset]}, ${presetHeaders[preset]}`}
      </>
    ) : of.channel === "replay" ? (
      <>
        <Badge>no signature</Badge> sent again by <Who of={of.received_by} />
      </>
    ) : (
      <>
        <Badge tone="good">signed in</Badge> <Who of={of.received_by} />
      </>
    );
  return (
    <Panel title="How it came">
      <Facts
        of={[
          ["Verification", verification],
          [
            "Source",
            route === null ? (
              inert(of.source)
            ) : (
              <Link key="source" to={`/sources/${route}`} className={link}>
                {inert(of.source)}
              </Link>
            ),
          ],
          ["Content type", of.content_type === null ? null : inert(of.content_type)],
          [
            "Idempotency key",
            of.idempotency_key === null ? null : (
              <span key="key" className="flex flex-wrap items-center gap-2">
                <Copyable value={of.idempotency_key} />
                {of.duplicate_count > 0 && <Badge>{of.duplicate_count} repeats turned away</Badge>}
              </span>
            ),
          ],
          ["SHA-256", <Copyable key="sha" value={of.content_sha256} short />],
          ["Last change", <Ago key="last" at={of.last_event_at} />],
        ]}
      />
    </Panel>
  );
}

/** The workflow that was chosen, by whom and why. */
export function Routing({ of }: { readonly of: Stimulus }) {
  const detail = of.classification_detail;
  if (detail === null)
    return (
      <Panel title="Classification">
        <p className="m-0 text-ink-soft">
          {of.status === "received"
            ? "Not decided yet."
            : of.taken_by.length > 0
              ? "No workflow was chosen: runs that waited took it."
              : "No workflow was chosen."}
        </p>
      </Panel>
    );
  const percent = (share: number | null) => (share === null ? "" : `${Math.round(share * 100)} %`);
  return (
    <Panel title="Classification">
      <Facts
        of={[
          [
            "Workflow",
            detail.workflow_name === null ? null : (
              <Link key="workflow" to={`/workflows/${detail.workflow_id ?? detail.workflow_name}`} className={link}>
                {inert(detail.workflow_name)}
              </Link>
            ),
          ],
          ["Why", routings[detail.routing_mode] ?? detail.routing_mode],
          [
            "Confidence",
            detail.confidence === null
              ? null
              : `${percent(detail.confidence)}${detail.threshold === null ? "" : `, at least ${percent(detail.threshold)} is asked for`}`,
          ],
          ["Reasoning", detail.reasoning === null ? null : <bdi key="why">{inert(detail.reasoning)}</bdi>],
          [
            "Router",
            detail.router_execution_id === null ? null : (
              <Link key="router" to={`/executions/${detail.router_execution_id}`} className={link}>
                its execution …{detail.router_execution_id.slice(-8)}
              </Link>
            ),
          ],
        ]}
      />
    </Panel>
  );
}
