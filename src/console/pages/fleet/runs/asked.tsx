/** What a run was asked to do, how, and which hosts it left out. */
import { Link } from "@tanstack/react-router";
import { Facts, Panel } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { counted, skips } from "../words.ts";
import type { Run } from "./target.ts";

export function Asked({ run: { args, policy, security_context_name: context } }: { readonly run: Run }) {
  const { mode, failure_policy: failure } = policy;
  return (
    <Panel title="What was asked">
      <div className="flex flex-col gap-3">
        <Value value={args} />
        <Facts
          of={[
            ["Order", typeof mode === "string" ? mode.toLowerCase() : `in waves of ${mode.Rolling.batch}`],
            ["Stops", failureWords(failure)],
            ["First on", policy.canary === null ? null : String(policy.canary)],
            ["Each host", `${policy.per_target_deadline_secs} s at most`],
            ["Retries", String(policy.retries)],
            ...(policy.offline_ttl_secs > 0
              ? [["Absent hosts", `wait ${policy.offline_ttl_secs} s for them`] as const]
              : []),
            ...(context === null ? [] : [["Context", inert(context)] as const]),
          ]}
        />
      </div>
    </Panel>
  );
}

function failureWords(failure: Run["policy"]["failure_policy"]): string {
  if (failure === "FailFast") return "at the first failure";
  if (failure === "ContinueOnError") return "never";
  return "StopAfter" in failure
    ? `after ${counted(failure.StopAfter, "failure")}`
    : `after ${failure.StopAfterPercent} % failed`;
}

export function LeftOut({ skipped }: { readonly skipped: Run["skipped"] }) {
  return (
    <Panel title="Left out" beside={<span className="text-ink-soft text-xs">{counted(skipped.length, "host")}</span>}>
      <ul className="m-0 flex max-h-72 list-none flex-col gap-1 overflow-auto p-0">
        {skipped.slice(0, 500).map(({ node_id: id, name, reason }) => (
          <li key={id} className="flex gap-2">
            <Link to={`/fleet/hosts/${id}`} className="min-w-0 flex-1 truncate text-ink hover:underline">
              {inert(name)}
            </Link>
            <span className="text-ink-soft text-xs">{skips[reason] ?? reason}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
