/** What the pages of runs read. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { type Connection, useStream } from "../../../app/streams/streams.ts";
import { type Definition, readDefinition } from "../../workflows/model/definition.ts";
import { isTerminal, type RunEvent } from "./entries.ts";

export type RunRecord = Schemas["WorkflowRunRecord"];
export type Run = Schemas["WorkflowRun"];

export const liveStatuses: ReadonlySet<string> = new Set(["pending", "running"]);

export const useRun = (id: string) =>
  useQuery({
    queryKey: ["run", "one", id],
    queryFn: () => answer(svc.GET("/v1/workflows/executions/{id}", { params: { path: { id } } })),
  });

/** The states and ways of a run. They change by a migration alone; what happened comes by the log. */
export const useRunShape = (id: string, version: string | undefined) =>
  useQuery({
    queryKey: ["run-shape", id, version],
    queryFn: () => answer(svc.GET("/v1/workflows/executions/{id}/graph", { params: { path: { id } } })),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The definition of a version; null: it is gone, or this caller may not read it. */
export function useDefinition(workflowId: string | undefined): Definition | null {
  const { data } = useQuery({
    queryKey: ["workflow", "text", workflowId],
    queryFn: () => manifestText(workflowId ?? ""),
    enabled: workflowId !== undefined,
    retry: false,
    staleTime: 60_000,
  });
  return useMemo(() => (data === undefined ? null : readDefinition(data)), [data]);
}

/** @param ref a name or the id of a version */
export async function manifestText(ref: string, version?: string): Promise<string> {
  const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
  const response = await svc.send(`/v1/workflows/${encodeURIComponent(ref)}/yaml${query}`);
  return response.text();
}

/** How long news of a run is gathered before its record is read again, ms. */
const gatherMs = 250;

/** The whole log of a run: what there is, then what comes. */
export function useRunLog(id: string): { readonly events: readonly RunEvent[]; readonly connection: Connection } {
  const [events, setEvents] = useState<readonly RunEvent[]>([]);
  const queries = useQueryClient();
  const heard = useRef<RunEvent[]>([]);
  const frame = useRef<number | null>(null);
  const reading = useRef<ReturnType<typeof setTimeout> | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run begins with an empty log
  useEffect(() => {
    heard.current = [];
    setEvents([]);
    return () => {
      if (frame.current !== null) cancelAnimationFrame(frame.current);
      if (reading.current !== null) clearTimeout(reading.current);
      frame.current = null;
      reading.current = null;
    };
  }, [id]);
  const connection = useStream(`/v1/workflows/executions/${id}/stream`, null, ({ data }) => {
    const event = data as RunEvent;
    if (typeof event?.sequence !== "number" || event.execution_id !== id) return;
    // A stream that was opened anew tells what is known already once more.
    if (event.sequence <= (heard.current.at(-1)?.sequence ?? 0)) return;
    heard.current.push(event);
    frame.current ??= requestAnimationFrame(() => {
      frame.current = null;
      setEvents([...heard.current]);
    });
    const renew = () => {
      reading.current = null;
      queries.invalidateQueries({ queryKey: ["run", "one", id] }).catch(() => {});
      queries.invalidateQueries({ queryKey: ["run-items", id] }).catch(() => {});
      if (event.type === "WorkflowExecutionMigrated")
        queries.invalidateQueries({ queryKey: ["run-shape", id] }).catch(() => {});
    };
    if (isTerminal(event)) renew();
    else reading.current ??= setTimeout(renew, gatherMs);
  });
  return { events, connection };
}
