/** What can be done with a run: pause, go on, cancel, and again over the hosts that failed. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Checkbox } from "../../../kit/controls/field.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import { wordsOf } from "../../../kit/values/status.tsx";
import { counted } from "../words.ts";
import { failedStatuses } from "./cells.ts";

const ended = ["complete", "halted", "cancelled"];
const retriable = [...failedStatuses, "cancelled", "not_started"] as const;

export function RunActions({
  id,
  status,
  counts,
}: {
  readonly id: string;
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
}) {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"cancel" | "retry" | null>(null);
  const [wanted, setWanted] = useState<readonly string[]>(failedStatuses);
  if (!can("aegis.edge.fleet.manage")) return null;
  const path = { params: { path: { id } } } as const;
  const renew = () => queries.invalidateQueries({ queryKey: ["fleet_run"] });
  const act = async (what: string, call: Promise<unknown>) => {
    try {
      await call;
      await renew();
      tell(what);
    } catch (error) {
      tellError("The run was not changed", error);
    }
  };
  const shown = retriable.filter((one) => (counts[one] ?? 0) > 0);
  const chosen = shown.filter((one) => wanted.includes(one));
  const hosts = chosen.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  return (
    <>
      {status === "running" && (
        <Button
          onClick={() =>
            void act("Paused: no further host starts", answer(svc.POST("/v1/edge/fleet/runs/{id}/pause", path)))
          }
        >
          <Pause aria-hidden />
          Pause
        </Button>
      )}
      {status === "paused" && (
        <Button
          look="primary"
          onClick={() => void act("The run goes on", answer(svc.POST("/v1/edge/fleet/runs/{id}/resume", path)))}
        >
          <Play aria-hidden />
          Go on
        </Button>
      )}
      {!ended.includes(status) && status !== "cancelling" && (
        <Button look="danger" onClick={() => setOpen("cancel")}>
          <Ban aria-hidden />
          Cancel
        </Button>
      )}
      {ended.includes(status) && shown.length > 0 && (
        <Button onClick={() => setOpen("retry")}>
          <RotateCcw aria-hidden />
          Retry
        </Button>
      )}
      <Confirm
        open={open === "cancel"}
        onClose={() => setOpen(null)}
        title="Cancel this run?"
        about="Commands that run are stopped on their hosts; hosts whose turn did not come are not asked."
        verb="Cancel the run"
        danger
        onConfirm={async () => {
          await answer(svc.POST("/v1/edge/fleet/runs/{id}/cancel", { ...path, body: {} }));
          await renew();
        }}
      />
      <Confirm
        open={open === "retry"}
        onClose={() => setOpen(null)}
        title="Again, over some of its hosts"
        about="Starts a new run with the same command. Lost commands may have run: choose them only where twice does no harm."
        verb={`Run on ${counted(hosts, "host")}`}
        onConfirm={async () => {
          const started = (await answer(
            svc.POST("/v1/edge/fleet/runs/{id}/retry", {
              ...path,
              body: { statuses: chosen },
              headers: { Accept: "application/json" },
            }),
          )) as { readonly fleet_command_id: string };
          await renew();
          await navigate({ to: `/fleet/runs/${started.fleet_command_id}` });
        }}
      >
        <div className="flex flex-col gap-1.5">
          {shown.map((one) => (
            <Checkbox
              key={one}
              label={`${wordsOf(one)} (${counts[one]})`}
              checked={wanted.includes(one)}
              onChange={(isOn) => setWanted(isOn ? [...wanted, one] : wanted.filter((other) => other !== one))}
            />
          ))}
        </div>
      </Confirm>
    </>
  );
}
