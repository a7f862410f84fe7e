/** What can be done with several runs at once. */
import { Ban, RotateCcw } from "lucide-react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import type { BulkWork } from "../../../kit/dialogs/bulk.tsx";
import { liveStatuses, type Run } from "../model/queries.ts";

const isOne = (names: readonly string[]): boolean => new Set(names).size === 1;
const nameOf = (run: Run): string => `${run.workflow_name} ${run.id.slice(0, 8)}`;
const pathOf = ({ id }: Run) => ({ params: { path: { id } }, body: {} });

interface BulkActionsProps {
  readonly runs: readonly Run[];
  readonly onWork: (work: BulkWork<Run>) => void;
  /** Asks for the version that they are to go on in. */
  readonly onMove: (runs: readonly Run[]) => void;
}

export function BulkActions({ runs, onWork, onMove }: BulkActionsProps) {
  const can = useCan();
  const live = runs.filter(({ status }) => liveStatuses.has(status));
  const broken = runs.filter(({ status }) => status === "failed" || status === "cancelled" || status === "timed_out");
  return (
    <>
      {can("workflow:cancel") && live.length > 0 && (
        <Button
          small
          look="danger"
          onClick={() =>
            onWork({
              title: live.length === 1 ? "Cancel one run?" : `Cancel ${live.length} runs?`,
              about: "What they have under way is given up.",
              verb: "Cancel them",
              danger: true,
              records: live,
              nameOf,
              act: (run) => answer(svc.POST("/v1/workflows/executions/{id}/cancel", pathOf(run))),
            })
          }
        >
          <Ban aria-hidden />
          Cancel {live.length}
        </Button>
      )}
      {can("workflow:run") && broken.length > 0 && (
        <Button
          small
          onClick={() =>
            onWork({
              title: broken.length === 1 ? "Retry one run?" : `Retry ${broken.length} runs?`,
              about: "Each begins anew where it ended.",
              verb: "Retry them",
              records: broken,
              nameOf,
              act: (run) => answer(svc.POST("/v1/workflows/executions/{id}/retry", pathOf(run))),
            })
          }
        >
          <RotateCcw aria-hidden />
          Retry {broken.length}
        </Button>
      )}
      {can("workflow:deploy") && live.length > 0 && isOne(live.map(({ workflow_name }) => workflow_name)) && (
        <Button small onClick={() => onMove(live)}>
          Move {live.length} to a version
        </Button>
      )}
    </>
  );
}
