/** The same done to many records, one after the other, with what was done and what was refused. */
import { useRef, useState } from "react";
import { ApiError } from "../../../programs/client/errors.ts";
import { Button } from "../controls/button.tsx";
import { inert } from "../values/text.tsx";
import { Dialog } from "./dialog.tsx";

export interface BulkWork<T> {
  /** `Cancel 12 executions` */
  readonly title: string;
  readonly about: string;
  /** On the button. */
  readonly verb: string;
  readonly danger?: boolean;
  readonly records: readonly T[];
  readonly nameOf: (record: T) => string;
  readonly act: (record: T) => Promise<unknown>;
}

interface Progress {
  readonly done: number;
  readonly failed: readonly (readonly [name: string, reason: string])[];
  readonly state: "asked" | "running" | "over";
}

const fresh: Progress = { done: 0, failed: [], state: "asked" };
/** So many are under way at once: the service counts a caller's requests. */
const atOnce = 4;

/** @param work null: nothing is asked */
export function Bulk<T>({ work, onClose }: { readonly work: BulkWork<T> | null; readonly onClose: () => void }) {
  const [progress, setProgress] = useState(fresh);
  const stopped = useRef(false);
  if (work === null) return null;
  const { records } = work;
  const close = () => {
    stopped.current = true;
    setProgress(fresh);
    onClose();
  };
  const run = async () => {
    stopped.current = false;
    setProgress({ ...fresh, state: "running" });
    const queue = [...records];
    const worker = async () => {
      for (let record = queue.shift(); record !== undefined && !stopped.current; record = queue.shift()) {
        const one = record;
        const reason = await attempt(() => work.act(one));
        setProgress((known) => ({
          ...known,
          done: known.done + 1,
          failed: reason === null ? known.failed : [...known.failed, [work.nameOf(one), reason]],
        }));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    setProgress((known) => ({ ...known, state: "over" }));
  };
  const isOver = progress.state === "over";
  return (
    <Dialog
      open
      onClose={close}
      title={work.title}
      about={work.about}
      actions={
        <>
          <Button look="ghost" onClick={close}>
            {isOver ? "Close" : progress.state === "running" ? "Stop here" : "Keep as it is"}
          </Button>
          {!isOver && (
            <Button
              look={work.danger === true ? "danger" : "primary"}
              busy={progress.state === "running"}
              onClick={run}
            >
              {work.verb}
            </Button>
          )}
        </>
      }
    >
      {progress.state !== "asked" && (
        <div className="flex flex-col gap-2">
          <progress className="h-2 w-full accent-accent-strong" max={records.length} value={progress.done} />
          <p role="status" className="m-0">
            {progress.done - progress.failed.length} of {records.length} done
            {progress.failed.length > 0 && <span className="text-bad">, {progress.failed.length} refused</span>}
          </p>
          {progress.failed.length > 0 && (
            <ul className="m-0 max-h-60 list-none overflow-auto rounded-control bg-sunken p-2 text-xs">
              {progress.failed.map(([name, reason]) => (
                <li key={name} className="py-0.5">
                  <code>{name}</code> <span className="text-ink-soft">{inert(reason)}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Dialog>
  );
}

/** @returns why it was not done; null: it was. A caller that is too fast waits as long as it is told. */
async function attempt(act: () => Promise<unknown>): Promise<string | null> {
  for (let tries = 0; ; tries++) {
    try {
      await act();
      return null;
    } catch (error) {
      const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : null;
      if (wait === null || tries >= 3) return error instanceof Error ? error.message : String(error);
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 30) * 1_000));
    }
  }
}
