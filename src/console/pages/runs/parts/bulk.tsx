/** The same done to several runs, one after the other, with what came of it. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { liveStatuses, type Run } from "../model/queries.ts";
import { Migrate } from "./migrate.tsx";

type Action = "cancel" | "retry";

const isOne = (names: readonly string[]): boolean => new Set(names).size === 1;

export function BulkActions({ runs, done }: { readonly runs: readonly Run[]; readonly done: () => void }) {
  const can = useCan();
  const queries = useQueryClient();
  const [action, choose] = useState<Action | null>(null);
  const [finished, setFinished] = useState(0);
  const [isMoving, move] = useState(false);
  const fit = {
    cancel: runs.filter(({ status }) => liveStatuses.has(status)),
    retry: runs.filter(({ status }) => status === "failed" || status === "cancelled" || status === "timed_out"),
  };
  const act = async (): Promise<void> => {
    if (action === null) return;
    const failures: string[] = [];
    setFinished(0);
    for (const { id } of fit[action]) {
      const params = { path: { id } };
      try {
        await (action === "cancel"
          ? answer(svc.POST("/v1/workflows/executions/{id}/cancel", { params, body: {} }))
          : answer(svc.POST("/v1/workflows/executions/{id}/retry", { params, body: {} })));
      } catch (error) {
        failures.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
      }
      setFinished((count) => count + 1);
    }
    await queries.invalidateQueries({ queryKey: ["run", "list"] });
    if (failures.length > 0) throw new Error(`${failures.length} failed. ${failures.slice(0, 5).join("; ")}`);
    tell(`${fit[action].length} runs: ${action === "cancel" ? "cancelling" : "tried again"}`);
    done();
  };
  return (
    <>
      {can("workflow:cancel") && fit.cancel.length > 0 && (
        <Button small look="danger" onClick={() => choose("cancel")}>
          Cancel {fit.cancel.length}
        </Button>
      )}
      {can("workflow:run") && fit.retry.length > 0 && (
        <Button small onClick={() => choose("retry")}>
          Retry {fit.retry.length}
        </Button>
      )}
      {can("workflow:deploy") &&
        fit.cancel.length > 0 &&
        isOne(fit.cancel.map(({ workflow_name }) => workflow_name)) && (
          <Button small onClick={() => move(true)}>
            Move {fit.cancel.length} to a version
          </Button>
        )}
      {isMoving && <Migrate runs={fit.cancel} onClose={() => move(false)} />}
      {action !== null && (
        <Confirm
          open
          onClose={() => choose(null)}
          danger={action === "cancel"}
          title={action === "cancel" ? `Cancel ${fit.cancel.length} runs?` : `Retry ${fit.retry.length} runs?`}
          about={action === "cancel" ? "What they have under way is given up." : "Each begins anew where it ended."}
          verb={action === "cancel" ? "Cancel them" : "Retry them"}
          onConfirm={act}
        >
          {finished > 0 && (
            <p role="status" className="m-0 text-ink-soft text-xs">
              {finished} of {fit[action].length} done
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
