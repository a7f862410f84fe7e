/** Pauses a run, or lets it go on. */
import { useQueryClient } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import type { RunRecord } from "../model/queries.ts";

export function PauseButton({ run }: { readonly run: RunRecord }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const isPaused = run.paused_at !== null;
  const turn = async () => {
    const params = { path: { id: run.id } };
    setBusy(true);
    try {
      await (isPaused
        ? answer(svc.POST("/v1/workflows/executions/{id}/resume", { params }))
        : answer(svc.POST("/v1/workflows/executions/{id}/pause", { params })));
      tell(isPaused ? "It goes on" : "Paused");
    } catch (error) {
      tellError(isPaused ? "It was not resumed" : "It was not paused", error);
    }
    await queries.invalidateQueries({ queryKey: ["run", "one", run.id] });
    setBusy(false);
  };
  return (
    <Button className="self-start" busy={busy} onClick={() => void turn()}>
      {isPaused ? <Play aria-hidden /> : <Pause aria-hidden />}
      {isPaused ? "Resume" : "Pause"}
    </Button>
  );
}
