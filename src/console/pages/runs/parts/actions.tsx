/** What can be done with a run: signal, pause, resume, cancel, retry, fork, delete. */
import { useNavigate } from "@tanstack/react-router";
import { ArrowUpDown, Bell, Ellipsis, GitFork, RotateCcw, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Checkbox, Input, Select, TextArea } from "../../../kit/controls/field.tsx";
import { Menu } from "../../../kit/controls/menu.tsx";
import { Confirm, Dialog } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import type { Entry } from "../model/entries.ts";
import { liveStatuses, type RunRecord } from "../model/queries.ts";
import { Migrate } from "./migrate.tsx";
import { PauseButton } from "./pause.tsx";
import { SignalForm } from "./signal.tsx";

type Asked = "migrate" | "signal" | "cancel" | "retry" | "fork" | "delete";

export function Actions({ run, entries }: { readonly run: RunRecord; readonly entries: readonly Entry[] }) {
  const can = useCan();
  const navigate = useNavigate();
  const [asked, ask] = useState<Asked | null>(null);
  const isLive = liveStatuses.has(run.status);
  const params = { path: { id: run.id } };
  const close = () => ask(null);
  const open = (id: string) => void navigate({ to: `/runs/${id}` });
  const mayCancel = can("workflow:cancel");
  const mayRun = can("workflow:run");
  const states = [
    ...new Set(
      entries.filter(({ branch, compensates }) => branch === null && compensates === null).map(({ state }) => state),
    ),
  ];
  return (
    <>
      {isLive && mayCancel && run.paused_at === null && <PauseButton run={run} />}
      {isLive && mayCancel && (
        <Button look="danger" onClick={() => ask("cancel")}>
          <Square aria-hidden />
          Cancel
        </Button>
      )}
      {!isLive && run.status !== "completed" && mayRun && (
        <Button look="primary" onClick={() => ask("retry")}>
          <RotateCcw aria-hidden />
          Retry
        </Button>
      )}
      <Menu
        trigger={
          <Button aria-label="More">
            <Ellipsis aria-hidden />
          </Button>
        }
        items={[
          isLive && can("workflow:signal") && { label: "Send a signal", icon: Bell, onClick: () => ask("signal") },
          mayRun && states.length > 0 && { label: "Fork from a state", icon: GitFork, onClick: () => ask("fork") },
          isLive &&
            can("workflow:deploy") && {
              label: "Move to another version",
              icon: ArrowUpDown,
              onClick: () => ask("migrate"),
            },
          mayCancel && { label: "Delete", icon: Trash2, danger: true, onClick: () => ask("delete") },
        ]}
      />
      {asked === "signal" && (
        <Dialog open onClose={close} title="Send a signal" size="large">
          <SignalForm runId={run.id} name="" onSent={close} />
        </Dialog>
      )}
      {asked === "migrate" && <Migrate runs={[run]} onClose={close} />}
      {asked === "cancel" && <Cancel run={run} onClose={close} />}
      {asked === "retry" && <Again run={run} states={states} onClose={close} open={open} kind="retry" />}
      {asked === "fork" && <Again run={run} states={states} onClose={close} open={open} kind="fork" />}
      <Confirm
        open={asked === "delete"}
        onClose={close}
        danger
        title="Delete this run?"
        about="The run and its log are removed; a live one is cancelled first. That cannot be undone."
        verb="Delete"
        onConfirm={async () => {
          await answer(svc.DELETE("/v1/workflows/executions/{id}", { params }));
          tell("Deleted");
          await navigate({ to: "/runs" });
        }}
      />
    </>
  );
}

function Cancel({ run, onClose }: { readonly run: RunRecord; readonly onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [undo, setUndo] = useState(false);
  const body = { ...(reason.trim() === "" ? {} : { reason: reason.trim() }), compensate: undo };
  return (
    <Confirm
      open
      onClose={onClose}
      danger
      title="Cancel this run?"
      about="Work under way is given up, approvals are withdrawn, sub-runs and fleet runs are cancelled."
      verb="Cancel the run"
      onConfirm={async () => {
        await answer(svc.POST("/v1/workflows/executions/{id}/cancel", { params: { path: { id: run.id } }, body }));
        tell("It is being cancelled");
      }}
    >
      <Input label="Reason" value={reason} onChange={setReason} />
      <Checkbox label="Undo what was done, by the states that compensate" checked={undo} onChange={setUndo} />
    </Confirm>
  );
}

/** Begins anew: a retry where a run ended, a fork from any state that was entered, with changed values. */
function Again({
  run,
  states,
  kind,
  onClose,
  open,
}: {
  readonly run: RunRecord;
  readonly states: readonly string[];
  readonly kind: "retry" | "fork";
  readonly onClose: () => void;
  readonly open: (id: string) => void;
}) {
  const [state, setState] = useState(kind === "retry" ? "" : (states.at(-1) ?? ""));
  const [visit, setVisit] = useState("");
  const [patch, setPatch] = useState("{}");
  const params = { path: { id: run.id } };
  const begin = async () => {
    if (kind === "retry") {
      const body = state === "" ? {} : { from_state: state };
      return answer(svc.POST("/v1/workflows/executions/{id}/retry", { params, body }));
    }
    const body = {
      from_state: state,
      ...(visit === "" ? {} : { from_visit: Number(visit) }),
      blackboard_patch: JSON.parse(patch) as unknown,
    };
    return answer(svc.POST("/v1/workflows/executions/{id}/fork", { params, body }));
  };
  const choices = states.map((value) => ({ value, label: value }));
  return (
    <Confirm
      open
      onClose={onClose}
      title={kind === "retry" ? "Retry this run?" : "Fork this run?"}
      about={
        kind === "retry"
          ? "A new run begins with the blackboard of this one."
          : "A new run begins at a state, with all that was written before it was entered, and your changes."
      }
      verb={kind === "retry" ? "Retry" : "Fork"}
      onConfirm={async () => {
        const { execution_id } = await begin();
        tell("A new run began");
        open(execution_id);
      }}
    >
      <Select
        label="From the state"
        value={state}
        onChange={setState}
        choices={kind === "retry" ? [{ value: "", label: "The last one" }, ...choices] : choices}
      />
      {kind === "fork" && (
        <>
          <Input label="Visit" type="number" value={visit} onChange={setVisit} hint="The last one when empty" />
          <TextArea
            label="Changed values of the blackboard (JSON)"
            mono
            rows={5}
            value={patch}
            onChange={setPatch}
            hint={`It has: ${Object.keys(run.blackboard).slice(0, 30).join(", ")}`}
          />
        </>
      )}
    </Confirm>
  );
}
