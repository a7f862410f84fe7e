/** What a record of an execution says beside what happened. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../../../programs/client/client.ts";
import { Who } from "../../app/who.tsx";
import { Facts } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";

type Record = Schemas["ExecutionRecord"];

const link = "text-accent underline hover:no-underline";

/** A few figures, the most asked ones. */
export function Figures({ record }: { readonly record: Record }) {
  const { usage } = record;
  const figures: readonly (readonly [string, ReactNode])[] = [
    ["Duration", <Duration key="d" from={record.started_at} to={record.ended_at} />],
    ["Iterations", `${record.current_iteration} of ${record.max_iterations}`],
    ["Model calls", usage.llm_calls.toLocaleString("en")],
    ["Tokens in / out", `${usage.input_tokens.toLocaleString("en")} / ${usage.output_tokens.toLocaleString("en")}`],
    ["Tool calls", usage.tool_calls.toLocaleString("en")],
    ["Cost", usage.cost_usd === 0 ? "–" : `$${usage.cost_usd.toFixed(usage.cost_usd < 1 ? 4 : 2)}`],
  ];
  return (
    <dl className="m-0 grid grid-cols-3 overflow-hidden rounded-panel border border-line bg-surface xl:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="min-w-0 px-3 py-2 sm:px-4 sm:py-2.5">
          <dt className="truncate text-ink-faint text-xs">{name}</dt>
          <dd className="m-0 truncate font-medium text-[1.05rem] tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Where it came from: shown below the title. */
export function Origin({ record }: { readonly record: Record }) {
  const { hierarchy, labels } = record;
  const stimulus = labels["svc.dev/stimulus"] ?? labels.stimulus_id ?? null;
  return (
    <>
      <Copyable value={record.id} short />
      <span>
        <Link to="/agents/$id" params={{ id: record.agent_id }} className={link}>
          {inert(record.agent_name)}
        </Link>{" "}
        {inert(record.agent_version)}
      </span>
      <span>
        began <Ago at={record.started_at} />
      </span>
      <span>by {triggerText[record.trigger]}</span>
      {hierarchy.parent_execution_id !== null && (
        <Link to="/executions/$id" params={{ id: hierarchy.parent_execution_id }} className={link}>
          Parent execution
        </Link>
      )}
      {record.workflow_execution_id !== null && (
        <Link to="/runs/$id" params={{ id: record.workflow_execution_id } as never} className={link}>
          Run of {inert(record.workflow_name ?? "a workflow")}
        </Link>
      )}
      {stimulus !== null && (
        <Link to="/stimuli/$id" params={{ id: stimulus } as never} className={link}>
          Stimulus
        </Link>
      )}
      {record.retry_of !== null && (
        <Link to="/executions/$id" params={{ id: record.retry_of }} className={link}>
          Retry of an earlier one
        </Link>
      )}
    </>
  );
}

const triggerText: Readonly<{ [T in Record["trigger"]]: string }> = {
  api: "a call of the API",
  tool: "a tool call",
  workflow: "a workflow",
  schedule: "a schedule",
  stimulus: "a stimulus",
  validator: "a validator, as its judge",
  output_handler: "an output handler",
};

export function Details({ record }: { readonly record: Record }) {
  const { runtime } = record;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        columns={2}
        of={[
          ["Execution", <Copyable key="id" value={record.id} />],
          ["Agent", <Copyable key="agent" value={record.agent_id} />],
          ["Version", `${record.agent_version}, revision ${record.agent_revision}`],
          ["Mode", record.mode],
          ["Created", <Ago key="c" at={record.created_at} />],
          ["Ended", <Ago key="e" at={record.ended_at} />],
          ["Deadline", <Ago key="dl" at={record.deadline_at} />],
          ["Intent", record.intent === null ? null : inert(record.intent)],
          ["Started by", record.starter === null ? null : <Who key="who" of={record.starter} />],
          ["Security context", record.security_context],
          ["Further ceilings", record.context_ceilings.length === 0 ? null : record.context_ceilings.join(", ")],
          ["Isolation", `${runtime.isolation}${runtime.sandbox === null ? "" : ` (${runtime.sandbox})`}`],
          ["Image", runtime.image],
          [
            "Egress",
            runtime.egress_enforced === null
              ? null
              : runtime.egress_enforced
                ? "only through the proxy"
                : "not enforced",
          ],
          [
            "Volumes",
            record.volumes.length === 0
              ? null
              : record.volumes
                  .map((volume) => `${volume.name} at ${volume.mount_path} (${volume.access_mode})`)
                  .join(", "),
          ],
          [
            "Labels",
            Object.keys(record.labels).length === 0 ? null : (
              <span key="labels" className="flex flex-wrap gap-1">
                {Object.entries(record.labels).map(([name, value]) => (
                  <Link key={name} to="/executions" search={{ label: `${name}=${value}` } as never}>
                    <Badge>
                      {inert(name)}={inert(value)}
                    </Badge>
                  </Link>
                ))}
              </span>
            ),
          ],
        ]}
      />
      {record.warnings.length > 0 && (
        <div>
          <h3 className="m-0 mb-1 font-medium text-warn text-xs">Warnings</h3>
          <ul className="m-0 list-disc pl-5">
            {record.warnings.map(({ code, message }) => (
              <li key={code}>
                <code>{code}</code> {inert(message)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
