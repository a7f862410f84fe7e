/** What the inbox reads, and how a decision is sent. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";

export type Pending = Schemas["PendingApproval"];
export type ApprovalRecord = Schemas["ApprovalRecord"];
export type ToolCall = Schemas["ApprovalToolCall"];

/** Kinds of approvals as people say them. */
export const kindWords: Readonly<Record<string, string>> = {
  workflow: "Workflow",
  fleet_run: "Fleet run",
  tool_call: "Tool call",
};

/** The whole record with its history, whether it waits or is decided. */
export const useApproval = (id: string | null) =>
  useQuery({
    queryKey: ["approval", "one", id],
    queryFn: () => answer(svc.GET("/v1/human-approvals/{id}/history", { params: { path: { id: id ?? "" } } })),
    enabled: id !== null,
  });

export interface Decision {
  readonly verdict: "approve" | "reject";
  /** For a rejection the reason; it is needed there. */
  readonly feedback: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly remember?: ToolCall["remember"] | undefined;
}

/** What came of a decision: `pending` while more people have to approve. */
export interface Decided {
  readonly status: string;
  readonly approvals?: number;
  readonly quorum?: number;
}

/** Of a tool call, its arguments as they were shown are what is approved. */
export async function sendDecision(
  approval: Pending,
  { verdict, feedback, arguments: edited, remember }: Decision,
): Promise<Decided> {
  const params = { path: { id: approval.id } };
  const said = feedback.trim();
  const call = approval.tool_call ?? null;
  if (verdict === "reject")
    return await answer(svc.POST("/v1/human-approvals/{id}/reject", { params, body: { reason: said } }));
  const body = {
    ...(said === "" ? {} : { feedback: said }),
    ...(edited === undefined ? {} : { arguments: edited }),
    ...(call === null ? {} : { arguments_sha256: call.arguments_sha256 }),
    ...(call === null || remember === undefined || remember === "none" ? {} : { remember }),
  };
  return await answer(svc.POST("/v1/human-approvals/{id}/approve", { params, body }));
}

/** Sends decisions and renews what shows the approval. */
export function useDecide() {
  const queries = useQueryClient();
  return async (approval: Pending, decision: Decision): Promise<Decided> => {
    try {
      return await sendDecision(approval, decision);
    } finally {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["approval"] }),
        ...(approval.execution_id === null
          ? []
          : [
              queries.invalidateQueries({ queryKey: ["run", "one", approval.execution_id] }),
              queries.invalidateQueries({ queryKey: ["execution", "one", approval.execution_id] }),
            ]),
      ]);
    }
  };
}

/** The page of what an approval belongs to. */
export function originOf({ kind, execution_id, workflow_execution_id, fleet_command_id, tool_call }: Pending): {
  readonly path: string;
  readonly label: string;
} | null {
  if (workflow_execution_id !== null) return { path: `/runs/${workflow_execution_id}`, label: "Run" };
  if (kind === "fleet_run") return { path: `/fleet/runs/${fleet_command_id ?? execution_id}`, label: "Fleet run" };
  // A call of a caller without an execution has an invocation alone.
  if (tool_call != null && tool_call.agent_name === null) return null;
  return { path: `/executions/${execution_id}`, label: "Execution" };
}
