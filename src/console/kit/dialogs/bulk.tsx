/** The same done to many records, one after the other, with what was done and what was refused. */
import { type ReactNode, useRef, useState } from "react";
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
  /** A text that it answers is told beside the record; without one only refusals are listed. */
  readonly act: (record: T) => Promise<unknown>;
}

interface BulkProps<T> {
  /** Null: nothing is asked. */
  readonly work: BulkWork<T> | null;
  readonly onClose: () => void;
  /** What has to be said first: shown until it begins. */
  readonly children?: ReactNode;
  /** Whether that is said. */
  readonly ready?: boolean;
}

interface Outcome {
  readonly name: string;
  readonly text: string;
  readonly isRefused: boolean;
}

interface Progress {
  readonly done: number;
  /** In the order they ended. */
  readonly outcomes: readonly Outcome[];
  readonly state: "asked" | "running" | "over";
}

const fresh: Progress = { done: 0, outcomes: [], state: "asked" };
/** So many are under way at once: the service counts a caller's requests. */
const atOnce = 4;

export function Bulk<T>({ work, onClose, children, ready = true }: BulkProps<T>) {
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
        const ended = await attempt(() => work.act(one));
        setProgress((known) => ({
          ...known,
          done: known.done + 1,
          outcomes: ended === null ? known.outcomes : [...known.outcomes, { name: work.nameOf(one), ...ended }],
        }));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    setProgress((known) => ({ ...known, state: "over" }));
  };
  const isOver = progress.state === "over";
  const refused = progress.outcomes.filter(({ isRefused }) => isRefused).length;
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
              disabled={!ready}
              onClick={run}
            >
              {work.verb}
            </Button>
          )}
        </>
      }
    >
      {progress.state === "asked" && children}
      {progress.state !== "asked" && (
        <div className="flex flex-col gap-2">
          <progress
            aria-label="Progress"
            className="h-2 w-full appearance-none overflow-hidden rounded-full bg-hover [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-accent-strong [&::-moz-progress-bar]:bg-accent-strong"
            max={records.length}
            value={progress.done}
          />
          <p role="status" className="m-0">
            {progress.done - refused} of {records.length} done
            {refused > 0 && <span className="text-bad">, {refused} refused</span>}
          </p>
          {progress.outcomes.length > 0 && (
            <ul
              aria-label="What came of each"
              className="m-0 max-h-60 list-none overflow-auto rounded-control bg-sunken p-2 text-xs"
            >
              {progress.outcomes.map(({ name, text, isRefused }) => (
                <li key={name} className="flex items-baseline gap-2 py-0.5">
                  <code className="min-w-0 flex-1 truncate">{inert(name)}</code>
                  <span className={isRefused ? "text-bad" : "text-good"}>{inert(text)}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Dialog>
  );
}

/** @returns what is told of it; null: nothing. A caller that is too fast waits as long as it is told. */
async function attempt(act: () => Promise<unknown>): Promise<Omit<Outcome, "name"> | null> {
  for (let tries = 0; ; tries++) {
    try {
      const told = await act();
      return typeof told === "string" ? { text: told, isRefused: false } : null;
    } catch (error) {
      const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : null;
      if (wait === null || tries >= 3)
        return { text: error instanceof Error ? error.message : String(error), isRefused: true };
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 30) * 1_000));
    }
  }
}
