/** The routes of approvals, for callers with a bearer token. */
import { Type } from "@sinclair/typebox";
import { ApprovalRecord, PendingApproval } from "../../../actors/approval/record.ts";
import { JsonText, reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route, uuidParam } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { deciderOf, sourceOf } from "./caller.ts";
import {
  ApproveBody,
  AskedArguments,
  DecisionBody,
  HistoryQuery,
  IssuedLink,
  LinkBody,
  OneApproval,
  PendingQuery,
  RejectBody,
} from "./schema.ts";
import type { Act, Approvals } from "./service.ts";
import { checkRecipient, checkTexts } from "./text-checks.ts";

export interface ApprovalRoutesOptions {
  readonly approvals: Approvals;
  readonly sql: Sql;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const RequestId = Type.Object({ id: uuidParam("invalid_request_id", "Invalid request ID") });
/** Published clients do not page: what they are not shown, their users never decide. */
const pendingAtOnce = 500;
const decisionLimit = 256 * 1024;

export function approvalRoutes({ approvals, sql, newId }: ApprovalRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/human-approvals",
      summary: "What waits for a decision, oldest first",
      scope: "approval:list",
      query: PendingQuery,
      responses: { 200: listSchema("pending_requests", PendingApproval) },
      handler: ({ tenant, query }) => {
        const page = pageOf({ ...query, limit: query.limit ?? pendingAtOnce }, 2);
        return approvals.pending(tenant, query, page);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/human-approvals/history",
      summary: "What was decided, the latest decision first",
      scope: "approval:read",
      query: HistoryQuery,
      responses: { 200: listSchema("approvals", ApprovalRecord) },
      handler: ({ tenant, query }) => approvals.history(tenant, query, pageOf(query, 2)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/human-approvals/:id",
      summary: "One request that waits for a decision",
      scope: "approval:read",
      params: RequestId,
      responses: { 200: OneApproval },
      refusals: ["approval_not_found"],
      handler: async ({ tenant, params, requestId }) => {
        const document = await approvals.open(tenant, params.id);
        if (document !== null) return new JsonText<typeof OneApproval.static>(`{"request":${document}}`);
        return { error: "Request not found or already completed", code: "approval_not_pending", request_id: requestId };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/human-approvals/:id/history",
      summary: "Everything about an approval, in any status",
      scope: "approval:read",
      params: RequestId,
      responses: { 200: ApprovalRecord },
      refusals: ["approval_not_found"],
      handler: ({ tenant, params }) => approvals.record(tenant, params.id),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/human-approvals/:id/approve",
      summary: "Approve",
      scope: "approval:approve",
      params: RequestId,
      body: jsonBody(ApproveBody, { optional: true, limit: decisionLimit }),
      headers: IdempotencyHeaders,
      responses: { 200: DecisionBody },
      refusals: [
        "approver_not_allowed",
        "self_approval_forbidden",
        "approval_not_found",
        "approval_already_decided",
        "arguments_changed",
        "arguments_not_editable",
        "invalid_arguments",
        "remember_not_allowed",
      ],
      handler: (call) => {
        const { feedback, approved_by } = call.body;
        checkTexts({ feedback, approved_by });
        return idempotent(
          call,
          sql,
          async (workId) => reply(200, await approvals.approve(actOf(call), workId, call.body)),
          newId,
        );
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/human-approvals/:id/arguments",
      summary: "The arguments of a tool call that waits or waited, whole, without the values of secrets",
      scope: "approval:read",
      params: RequestId,
      responses: { 200: AskedArguments },
      refusals: ["approval_not_found"],
      handler: ({ tenant, params }) => approvals.arguments(tenant, params.id),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/human-approvals/:id/reject",
      summary: "Reject, for a reason",
      scope: "approval:reject",
      params: RequestId,
      // Without a body the reason is what is missing, as with an empty object.
      body: jsonBody(RejectBody, { optional: true, limit: decisionLimit }),
      headers: IdempotencyHeaders,
      responses: { 200: DecisionBody },
      refusals: ["approver_not_allowed", "self_approval_forbidden", "approval_not_found", "approval_already_decided"],
      handler: (call) => {
        const { reason, rejected_by } = call.body;
        checkTexts({ reason, rejected_by }, "reason");
        return idempotent(
          call,
          sql,
          async (workId) => reply(200, await approvals.reject(actOf(call), workId, reason, rejected_by ?? null)),
          newId,
        );
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/human-approvals/:id/links",
      summary: "Make a decision link for a recipient; it is shown this once",
      scope: "approval:approve",
      params: RequestId,
      body: jsonBody(LinkBody),
      responses: { 201: IssuedLink },
      refusals: ["approver_not_allowed", "self_approval_forbidden", "approval_not_found", "approval_already_decided"],
      handler: async (call) => {
        checkRecipient(call.body.recipient);
        return reply(201, await approvals.issueLink(actOf(call), call.body.recipient), { "Cache-Control": "no-store" });
      },
    }),
  ];
}

function actOf(call: Call<{ readonly id: string }>): Act {
  const { identity, tenant, params } = call;
  return {
    tenant,
    approvalId: params.id,
    by: deciderOf(identity, tenant),
    source: sourceOf(call),
    managesFleet: identity.scopes.has("aegis.edge.fleet.manage"),
  };
}
