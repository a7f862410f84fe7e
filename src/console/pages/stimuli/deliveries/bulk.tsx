/** Dead letters that are replayed or discarded together, in small groups, so that it is seen how far it is. */
import { useQueryClient } from "@tanstack/react-query";
import { RotateCcw, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { ApiError } from "../../../../programs/client/errors.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Input } from "../../../kit/controls/field.tsx";
import { Dialog } from "../../../kit/dialogs/dialog.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { messageOf } from "../words.ts";

type Delivery = Schemas["StimulusElement"];
type Deed = "replay" | "discard";
type Outcome = { readonly id: string; readonly fault: string | null };

/** So many are asked for at once. */
const atOnce = 8;

const replayed = async (ids: readonly string[]): Promise<readonly Outcome[]> => {
  const { results } = await answer(svc.POST("/v1/stimuli/dead-letters/replay", { body: { ids: [...ids] } }));
  return results.map(({ id, code }) => ({ id, fault: code }));
};

const discarded = (ids: readonly string[], reason: string): Promise<readonly Outcome[]> =>
  Promise.all(
    ids.map((id) =>
      svc
        .POST("/v1/stimuli/{id}/discard", { params: { path: { id } }, body: reason === "" ? {} : { reason } })
        .then(() => ({ id, fault: null }))
        .catch((error: unknown) => ({ id, fault: error instanceof ApiError ? error.code : messageOf(error) })),
    ),
  );

/** What is to be done, and to which. */
export interface Work {
  readonly deed: Deed;
  readonly of: readonly Delivery[];
  readonly clear: () => void;
}

/** @param onStart shows the work outside of the list: its rows leave the list while they are worked on */
export function BulkActions({
  selected,
  clear,
  onStart,
}: {
  readonly selected: readonly Delivery[];
  readonly clear: () => void;
  readonly onStart: (work: Work) => void;
}) {
  const dead = selected.filter(({ dead_letter: isDead }) => isDead);
  return (
    <>
      {dead.length === 0 ? (
        <span>None of them is a dead letter: there is nothing to replay or discard together.</span>
      ) : (
        <>
          <Button small onClick={() => onStart({ deed: "replay", of: dead, clear })}>
            <RotateCcw aria-hidden />
            Replay {dead.length}
          </Button>
          <Button small look="danger" onClick={() => onStart({ deed: "discard", of: dead, clear })}>
            <Trash2 aria-hidden />
            Discard {dead.length}
          </Button>
        </>
      )}
    </>
  );
}

export function BulkWork({
  deed,
  of,
  onClose,
}: {
  readonly deed: Deed;
  readonly of: readonly Delivery[];
  readonly onClose: (done: boolean) => void;
}) {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const [isUnderWay, setUnderWay] = useState(false);
  const stopped = useRef(false);
  const start = async () => {
    setUnderWay(true);
    let all: readonly Outcome[] = [];
    setOutcomes(all);
    for (let at = 0; at < of.length && !stopped.current; at += atOnce) {
      const ids = of.slice(at, at + atOnce).map(({ id }) => id);
      const some = await (deed === "replay" ? replayed(ids) : discarded(ids, reason.trim())).catch((error: unknown) =>
        ids.map((id) => ({ id, fault: messageOf(error) })),
      );
      all = [...all, ...some];
      setOutcomes(all);
    }
    setUnderWay(false);
    await queries.invalidateQueries({ queryKey: ["stimulus"] });
  };
  const close = () => {
    stopped.current = true;
    onClose(outcomes !== null);
  };
  const failed = outcomes?.filter(({ fault }) => fault !== null) ?? [];
  const verb = deed === "replay" ? "Replay" : "Discard";
  return (
    <Dialog
      open
      onClose={close}
      title={`${verb} ${of.length === 1 ? "one dead letter" : `${of.length} dead letters`}`}
      about={
        deed === "replay"
          ? "Each is routed again by the configuration of now."
          : "They leave the dead letters. A discarded one can still be replayed by itself, by force."
      }
      actions={
        outcomes === null ? (
          <>
            <Button look="ghost" onClick={close}>
              Keep as it is
            </Button>
            <Button look={deed === "replay" ? "primary" : "danger"} onClick={() => void start()}>
              {verb}
            </Button>
          </>
        ) : (
          <Button look={isUnderWay ? "plain" : "primary"} onClick={close}>
            {isUnderWay ? "Stop after these" : "Done"}
          </Button>
        )
      }
    >
      {outcomes === null ? (
        deed === "discard" && <Input label="Why (optional)" value={reason} onChange={setReason} />
      ) : (
        <div className="flex flex-col gap-3" aria-live="polite">
          <div
            role="progressbar"
            aria-label={verb}
            aria-valuemin={0}
            aria-valuemax={of.length}
            aria-valuenow={outcomes.length}
            className="h-2 overflow-hidden rounded-full bg-sunken"
          >
            <div
              className="h-full bg-accent-strong transition-[width]"
              style={{ width: `${(outcomes.length / of.length) * 100}%` }}
            />
          </div>
          <p className="m-0">
            {outcomes.length} of {of.length}; {outcomes.length - failed.length} succeeded
            {failed.length > 0 && <span className="text-bad">, {failed.length} failed</span>}
          </p>
          {failed.length > 0 && (
            <ul className="m-0 max-h-48 list-none overflow-auto p-0 text-xs">
              {failed.map(({ id, fault }) => (
                <li key={id} className="flex gap-3 py-0.5">
                  <code>{id.slice(-12)}</code>
                  <span className="text-bad">{inert(fault ?? "")}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Dialog>
  );
}
