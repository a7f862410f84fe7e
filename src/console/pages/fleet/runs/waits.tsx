/** What a run waits for or why it ended, and what moves it on. */
import { Link } from "@tanstack/react-router";
import { CircleAlert, CirclePause, Clock } from "lucide-react";
import { classes } from "../../../kit/controls/classes.ts";
import { inert } from "../../../kit/values/text.tsx";
import { reasons } from "../words.ts";
import type { RunView } from "./cells.ts";
import type { Run } from "./target.ts";

export function Waits({ run, status, view }: { readonly run: Run; readonly status: string; readonly view: RunView }) {
  const approval = view.approvalId ?? run.approval_id;
  if (status === "awaiting_approval")
    return (
      <Note tone="violet" icon={Clock}>
        It waits for a person to approve it.{" "}
        {approval !== null && (
          <Link to={`/approvals/${approval}`} className="font-medium underline">
            Open the approval
          </Link>
        )}
      </Note>
    );
  if (status === "paused") {
    const why = view.status === null ? run.pause_reasons : view.pauseReasons;
    return (
      <Note tone="warn" icon={CirclePause}>
        {why.map((reason) => reasons[reason] ?? reason).join(" ")} No further host starts; what runs goes on.
      </Note>
    );
  }
  if (status === "halted" || status === "halting" || status === "cancelled") {
    const reason = view.reason ?? run.reason;
    return (
      <Note tone={status === "cancelled" ? "neutral" : "bad"} icon={CircleAlert}>
        {reason === null ? "It stopped." : (reasons[reason] ?? reason)}{" "}
        {view.errors.length > 0 && <span className="text-xs">{inert(view.errors.join(" "))}</span>}
      </Note>
    );
  }
  return null;
}

const looks = {
  violet: "border-violet/40 bg-violet-soft text-violet",
  warn: "border-warn/40 bg-warn-soft text-warn",
  bad: "border-bad/40 bg-bad-soft text-bad",
  neutral: "border-line bg-surface text-ink-soft",
} as const;

function Note({
  tone,
  icon: Icon,
  children,
}: {
  readonly tone: keyof typeof looks;
  readonly icon: typeof Clock;
  readonly children: React.ReactNode;
}) {
  return (
    <div role="status" className={classes("flex items-start gap-2 rounded-panel border p-3", looks[tone])}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="m-0 min-w-0">{children}</p>
    </div>
  );
}
