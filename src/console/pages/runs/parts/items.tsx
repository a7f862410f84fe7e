/** The items of a Map: how far they are, and each with what came of it. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Select } from "../../../kit/controls/field.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import { useList } from "../../../kit/list.ts";
import { Loading, Trouble } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import type { Entry } from "../model/entries.ts";

type Item = Schemas["RunItem"];

const statuses = ["pending", "running", "completed", "failed", "cancelled"] as const;
type ItemStatus = (typeof statuses)[number];

export function Progress({ progress }: { readonly progress: NonNullable<Entry["progress"]> }) {
  const { done, failed, total } = progress;
  const of = Math.max(1, total);
  return (
    <div>
      <div
        role="progressbar"
        aria-label="Items that are done"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done + failed}
        className="flex h-2 overflow-hidden rounded-full bg-hover"
      >
        <span className="bg-good" style={{ width: `${(100 * done) / of}%` }} />
        <span className="bg-bad" style={{ width: `${(100 * failed) / of}%` }} />
      </div>
      <p className="mt-1 mb-0 text-ink-soft text-xs tabular-nums">
        {done.toLocaleString("en")} of {total.toLocaleString("en")} succeeded
        {failed > 0 && <span className="text-bad">, {failed.toLocaleString("en")} failed</span>}
      </p>
    </div>
  );
}

/** @param isOver items can no longer be changed */
export function Items({
  runId,
  state,
  visit,
  isOver,
}: {
  readonly runId: string;
  readonly state: string;
  readonly visit: number;
  readonly isOver: boolean;
}) {
  const [status, setStatus] = useState<ItemStatus | "">("");
  const [opened, open] = useState<number | null>(null);
  const can = useCan();
  const queries = useQueryClient();
  const list = useList<Item>(["run-items", runId, state, visit, status], (cursor) =>
    answer(
      svc.GET("/v1/workflows/executions/{id}/items", {
        params: {
          path: { id: runId },
          query: {
            state,
            visit,
            limit: 50,
            ...(status === "" ? {} : { status }),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  const order = async (action: "retry" | "cancel", index: number) => {
    const params = { path: { id: runId, index } };
    try {
      await (action === "retry"
        ? answer(svc.POST("/v1/workflows/executions/{id}/items/{index}/retry", { params, body: { state } }))
        : answer(svc.POST("/v1/workflows/executions/{id}/items/{index}/cancel", { params, body: { state } })));
      tell(action === "retry" ? `Item ${index} is tried again` : `Item ${index} was given up`);
    } catch (error) {
      tellError(`Item ${index} was not changed`, error);
    }
    await queries.invalidateQueries({ queryKey: ["run-items", runId] });
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Select
        label="Items"
        className="w-44"
        value={status}
        choices={[{ value: "", label: "All" }, ...statuses.map((value) => ({ value, label: value }))]}
        onChange={(next) => setStatus(next as ItemStatus | "")}
      />
      {list.error !== null && <Trouble error={list.error} retry={list.retry} />}
      {list.loading ? (
        <Loading lines={3} />
      ) : (
        <ul
          aria-label={`Items of ${state}`}
          className="m-0 max-h-96 list-none overflow-auto rounded-control border border-line p-0"
        >
          {list.rows.map((item) => (
            <li key={item.index} className="border-line border-b last:border-b-0">
              <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 px-2.5 py-1 text-xs">
                <button
                  type="button"
                  aria-expanded={opened === item.index}
                  className="flex min-w-0 flex-1 items-center gap-3 text-left hover:underline"
                  onClick={() => open(opened === item.index ? null : item.index)}
                >
                  <span className="w-10 shrink-0 text-right text-ink-faint tabular-nums">{item.index}</span>
                  <Status status={item.status} bare />
                  <span className="min-w-0 truncate text-bad">{inert(item.error ?? "")}</span>
                </button>
                {item.attempts > 1 && <span className="text-ink-faint">{item.attempts} attempts</span>}
                {item.execution_id !== null && (
                  <Link
                    to="/runs/$id"
                    params={{ id: item.execution_id } as never}
                    className="text-accent hover:underline"
                  >
                    Run
                  </Link>
                )}
                {!isOver && can("workflow:run") && (item.status === "failed" || item.status === "cancelled") && (
                  <Button small look="ghost" onClick={() => void order("retry", item.index)}>
                    Retry
                  </Button>
                )}
                {!isOver && can("workflow:cancel") && (item.status === "pending" || item.status === "running") && (
                  <Button small look="ghost" onClick={() => void order("cancel", item.index)}>
                    Give up
                  </Button>
                )}
              </div>
              {opened === item.index && (
                <div className="px-2.5 pb-2.5">
                  <Value value={item.result} />
                </div>
              )}
            </li>
          ))}
          {list.rows.length === 0 && <li className="p-3 text-ink-faint text-xs">No items like this.</li>}
        </ul>
      )}
      {list.more !== null && (
        <Button small className="self-start" busy={list.loadingMore} onClick={list.more}>
          Show more items
        </Button>
      )}
    </div>
  );
}
