/** Several approvals decided at once, with one feedback, and what came of each. */
import { useQueryClient } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { ApiError } from "../../../programs/client/errors.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Checkbox, TextArea } from "../../kit/controls/field.tsx";
import { Bulk, type BulkWork } from "../../kit/dialogs/bulk.tsx";
import { wordsOf } from "../../kit/values/status.tsx";
import { nameOf } from "./decide.tsx";
import { type Decision, type Pending, sendDecision } from "./queries.ts";

interface TogetherProps {
  readonly rows: readonly Pending[];
  readonly selected: readonly Pending[];
  readonly onChoose: (ids: readonly string[]) => void;
  /** What was read may be decided now. */
  readonly onDecided: () => void;
}

type Verdict = Decision["verdict"];

export function Together({ rows, selected, onChoose, onDecided }: TogetherProps) {
  const can = useCan();
  const queries = useQueryClient();
  // As they were selected: those that are decided leave the list while others are under way.
  const [asked, ask] = useState<{ readonly verdict: Verdict; readonly records: readonly Pending[] } | null>(null);
  const [feedback, setFeedback] = useState("");
  const mayApprove = can("approval:approve");
  const mayReject = can("approval:reject");
  if (!mayApprove && !mayReject) return null;
  const approvable = selected.filter(isSmall);
  const isAll = rows.length > 0 && selected.length === rows.length;
  const close = () => {
    ask(null);
    setFeedback("");
    onChoose([]);
    onDecided();
    for (const kind of ["approval", "run", "execution", "fleet_run"])
      queries.invalidateQueries({ queryKey: [kind] }).catch(() => {});
  };
  return (
    <>
      {rows.length > 0 && (
        <div className="flex min-h-10 flex-wrap items-center gap-2 border-line border-b px-3 py-1.5 text-ink-soft text-xs">
          <Checkbox
            quiet
            label="Select all"
            checked={isAll}
            mixed={selected.length > 0 && !isAll}
            onChange={(checked) => onChoose(checked ? rows.map(({ id }) => id) : [])}
          />
          {selected.length === 0 ? (
            <span>Select several to decide them at once</span>
          ) : (
            <>
              <span className="font-medium text-ink">{selected.length} selected</span>
              <span className="ml-auto flex gap-1.5">
                {mayApprove && (
                  <Button
                    small
                    disabled={approvable.length === 0}
                    onClick={() => ask({ verdict: "approve", records: approvable })}
                  >
                    <Check aria-hidden />
                    Approve {approvable.length}
                  </Button>
                )}
                {mayReject && (
                  <Button small look="danger" onClick={() => ask({ verdict: "reject", records: selected })}>
                    <X aria-hidden />
                    Reject {selected.length}
                  </Button>
                )}
              </span>
            </>
          )}
        </div>
      )}
      <Bulk
        work={asked === null ? null : workOf(asked.verdict, asked.records, selected.length, feedback)}
        ready={asked?.verdict === "approve" || feedback.trim() !== ""}
        onClose={close}
      >
        <TextArea
          label={asked?.verdict === "reject" ? "The reason, for all of them" : "Feedback for all of them (optional)"}
          rows={3}
          value={feedback}
          onChange={setFeedback}
          placeholder="Given to what waits for the decision"
        />
      </Bulk>
    </>
  );
}

/** What starts on many hosts is read, and approved by itself. */
const isSmall = ({ kind }: Pending): boolean => kind !== "fleet_run";

function workOf(verdict: Verdict, records: readonly Pending[], selected: number, feedback: string): BulkWork<Pending> {
  const count = records.length;
  const what = count === 1 ? "one approval" : `${count} approvals`;
  const left = verdict === "approve" && selected > count ? " Fleet runs are left out: each is approved by itself." : "";
  return {
    title: `${verdict === "approve" ? "Approve" : "Reject"} ${what}?`,
    about: `What waits for them goes on at once.${left}`,
    verb: verdict === "approve" ? "Approve them" : "Reject them",
    danger: verdict === "reject",
    records,
    nameOf: (one) => `${nameOf(one)} …${one.id.slice(-8)}`,
    act: async (one) => {
      try {
        const { status, approvals, quorum } = await sendDecision(one, { verdict, feedback });
        if (status === "pending") return `counted: ${approvals ?? 1} of ${quorum ?? one.quorum}`;
        return verdict === "approve" ? "approved" : "rejected";
      } catch (error) {
        throw alreadyDecided(error) ?? error;
      }
    },
  };
}

/** Of a refusal because another person was first, what they decided. */
function alreadyDecided(error: unknown): Error | null {
  if (!(error instanceof ApiError) || error.code !== "approval_already_decided") return null;
  const { status } = error.body;
  return new Error(typeof status === "string" ? `already decided: ${wordsOf(status)}` : "already decided");
}
