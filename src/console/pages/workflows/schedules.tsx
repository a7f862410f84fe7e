/** When a workflow starts by itself: paused, run now, or for times that have gone by. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Loading, Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

export function Schedules({ name }: { readonly name: string }) {
  const can = useCan();
  const queries = useQueryClient();
  const [filling, fill] = useState<string | null>(null);
  const { data, error } = useQuery({
    queryKey: ["workflow", "schedules", name],
    queryFn: () => answer(svc.GET("/v1/workflows/{ref}/schedules", { params: { path: { ref: name } } })),
  });
  if (error !== null) return <Trouble error={error} />;
  if (data === undefined) return <Loading />;
  const order = async (id: string, action: "pause" | "resume" | "run") => {
    const params = { path: { ref: name, id } };
    try {
      if (action === "run") await answer(svc.POST("/v1/workflows/{ref}/schedules/{id}/run", { params, body: {} }));
      else if (action === "pause") await answer(svc.POST("/v1/workflows/{ref}/schedules/{id}/pause", { params }));
      else await answer(svc.POST("/v1/workflows/{ref}/schedules/{id}/resume", { params }));
      tell("Done");
    } catch (failure) {
      tellError("That was not done", failure);
    }
    await queries.invalidateQueries({ queryKey: ["workflow", "schedules", name] });
  };
  if (data.items.length === 0) return <p className="m-0 text-ink-soft">The manifest has no schedules.</p>;
  return (
    <ul className="m-0 flex list-none flex-col gap-2 p-0">
      {data.items.map((one) => (
        <li key={one.id} className="flex flex-wrap items-center gap-3 rounded-panel border border-line bg-surface p-3">
          <span className="font-medium">{inert(one.name)}</span>
          <code className="text-xs">{one.cron ?? `every ${one.every ?? 0} s`}</code>
          <span className="text-ink-soft text-xs">
            {one.timezone} · overlap {one.overlap} · next{" "}
            {one.paused ? "none: paused" : one.next_times.map((at) => <Ago key={at} at={at} className="mr-2" />)}
          </span>
          <span className="ml-auto flex flex-wrap items-center gap-1.5">
            <Link
              to="/runs"
              search={{ schedule: one.id } as never}
              className="mr-1.5 text-accent text-xs hover:underline"
            >
              Its runs
            </Link>
            {can("workflow:run") && (
              <Button small onClick={() => fill(one.id)}>
                Backfill
              </Button>
            )}
            {can("workflow:deploy") && (
              <Button small onClick={() => void order(one.id, one.paused ? "resume" : "pause")}>
                {one.paused ? "Resume" : "Pause"}
              </Button>
            )}
            {can("workflow:run") && (
              <Button small onClick={() => void order(one.id, "run")}>
                Run now
              </Button>
            )}
          </span>
          {filling === one.id && <Backfill name={name} id={one.id} onClose={() => fill(null)} />}
        </li>
      ))}
    </ul>
  );
}

const overlaps = {
  "": "As the schedule says",
  skip: "Skip a time while a run is under way",
  queue: "One after the other",
  allow: "All at once",
  cancel_previous: "Each cancels the one before it",
} as const;
type Overlap = keyof typeof overlaps;

const dayMs = 86_400_000;

/** @returns as a field of date and time has it, where the reader is */
const localMinute = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Starts a run for each of the schedule's times in a span that has gone by. */
function Backfill({ name, id, onClose }: { readonly name: string; readonly id: string; readonly onClose: () => void }) {
  const [from, setFrom] = useState(() => localMinute(Date.now() - dayMs));
  const [to, setTo] = useState(() => localMinute(Date.now()));
  const [overlap, setOverlap] = useState<Overlap>("");
  const queries = useQueryClient();
  const send = async () => {
    const params = { path: { ref: name, id } };
    const body = {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      ...(overlap === "" ? {} : { overlap }),
    };
    const { started, skipped } = await answer(
      svc.POST("/v1/workflows/{ref}/schedules/{id}/backfill", { params, body }),
    );
    tell(`${started} started`, skipped === 0 ? undefined : `${skipped} skipped`);
    await queries.invalidateQueries({ queryKey: ["workflow", "schedules", name] });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Run it for times that have gone by?"
      about="A run begins for each of the schedule's times between the two."
      verb="Backfill"
      disabled={from === "" || to === "" || from >= to}
      onSend={send}
    >
      <Input label="From, in your time zone" type="datetime-local" value={from} onChange={setFrom} />
      <Input label="To, in your time zone" type="datetime-local" value={to} onChange={setTo} />
      <Select
        label="When runs overlap"
        value={overlap}
        choices={Object.entries(overlaps).map(([value, label]) => ({ value, label }))}
        onChange={(next) => setOverlap(next as Overlap)}
      />
    </FormDialog>
  );
}
