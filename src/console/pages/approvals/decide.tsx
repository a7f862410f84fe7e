/** Approving and rejecting: in the inbox and wherever a run or an execution waits. */
import { Check, X } from "lucide-react";
import { useRef, useState } from "react";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { classes } from "../../kit/controls/classes.ts";
import { TextArea } from "../../kit/controls/field.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Trouble } from "../../kit/page.tsx";
import { useLoneKeys } from "./keys.ts";
import { type Decision, type Pending, useDecide } from "./queries.ts";
import { argumentsOf, CallChoices, unchanged } from "./tool-call.tsx";

interface DecideProps {
  readonly approval: Pending;
  /** The keys a and r decide: of the one approval that the page is about. */
  readonly keys?: boolean;
  /** Why an approval of this needs a word typed: what it does is large. Null: it does not. */
  readonly large?: { readonly about: string; readonly typed: string } | null;
  readonly onDecided?: () => void;
}

export function Decide({ approval, keys = false, large = null, onDecided }: DecideProps) {
  const can = useCan();
  const send = useDecide();
  const [feedback, setFeedback] = useState("");
  const [choice, setChoice] = useState(unchanged);
  const [busy, setBusy] = useState<Decision["verdict"] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isMissing, setMissing] = useState(false);
  const [isAsking, ask] = useState(false);
  const field = useRef<HTMLDivElement>(null);
  const mayApprove = can("approval:approve");
  const mayReject = can("approval:reject");

  const decide = async (verdict: Decision["verdict"]): Promise<void> => {
    const edited = verdict === "approve" ? argumentsOf(choice) : undefined;
    const decided = await send(approval, { verdict, feedback, arguments: edited, remember: choice.remember });
    setFeedback("");
    setChoice(unchanged);
    if (decided.status === "pending")
      tell(
        "Your approval is counted",
        `${decided.approvals ?? 1} of ${decided.quorum ?? approval.quorum} have approved.`,
      );
    else tell(verdict === "approve" ? "Approved" : "Rejected", nameOf(approval));
    onDecided?.();
  };
  const attempt = async (verdict: Decision["verdict"]) => {
    if (busy !== null) return;
    if (verdict === "reject" && feedback.trim() === "") {
      setMissing(true);
      field.current?.querySelector("textarea")?.focus();
      return;
    }
    if (verdict === "approve" && large !== null) return ask(true);
    setBusy(verdict);
    setError(null);
    try {
      await decide(verdict);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(null);
    }
  };
  useLoneKeys(
    {
      ...(mayApprove ? { a: () => void attempt("approve") } : {}),
      ...(mayReject ? { r: () => void attempt("reject") } : {}),
    },
    keys && approval.status === "pending" && !isAsking,
  );
  if (!mayApprove && !mayReject) return null;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {approval.tool_call != null && mayApprove && (
        <CallChoices call={approval.tool_call} choice={choice} onChange={setChoice} />
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it hears keys of the field that it has in it */}
      <div
        ref={field}
        onKeyDown={(event) => {
          if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void attempt(isMissing || !mayApprove ? "reject" : "approve");
        }}
      >
        <TextArea
          label={mayReject ? "Feedback (a rejection needs it: the reason)" : "Feedback"}
          rows={2}
          value={feedback}
          onChange={(next) => {
            setFeedback(next);
            if (next.trim() === "") setMissing(false);
          }}
          placeholder="Given to what waits for the decision"
          error={isMissing && feedback.trim() === "" ? "Say why: a rejection needs a reason" : null}
        />
      </div>
      {error !== null && <Trouble error={error} />}
      <div className="flex flex-wrap items-center gap-2">
        {mayApprove && (
          <Button look="primary" busy={busy === "approve"} onClick={() => void attempt("approve")}>
            <Check aria-hidden />
            {choice.text === null ? "Approve" : "Approve as edited"}
            {keys && <Key letter="a" onAccent />}
          </Button>
        )}
        {mayReject && (
          <Button look="danger" busy={busy === "reject"} onClick={() => void attempt("reject")}>
            <X aria-hidden />
            Reject
            {keys && <Key letter="r" />}
          </Button>
        )}
        {isMissing && feedback.trim() !== "" && <span className="text-ink-faint text-xs">Ctrl-Enter rejects</span>}
      </div>
      {large !== null && (
        <Confirm
          open={isAsking}
          onClose={() => ask(false)}
          title="Approve this?"
          about={large.about}
          typed={large.typed}
          verb="Approve"
          onConfirm={() => decide("approve")}
        />
      )}
    </div>
  );
}

/** What an approval is about, in few words. */
export const nameOf = (approval: Pending): string =>
  approval.tool_call?.tool ??
  (approval.workflow_name === null ? "Fleet run" : `${approval.workflow_name} · ${approval.state_name ?? ""}`);

function Key({ letter, onAccent = false }: { readonly letter: string; readonly onAccent?: boolean }) {
  return (
    <kbd
      aria-hidden
      className={classes(
        "ml-0.5 rounded border px-1 text-2xs leading-4 max-sm:hidden",
        onAccent ? "border-on-accent/40" : "border-line",
      )}
    >
      {letter}
    </kbd>
  );
}
