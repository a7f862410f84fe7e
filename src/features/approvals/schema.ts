/** The requests and answers of the approval routes. */

import { type Static, Type } from "@sinclair/typebox";
import { ApprovalEvent, ApprovalRecord, PendingApproval } from "../../../actors/approval/record.ts";
import { Remember, ShownToolCall } from "../../../actors/approval/tool-call.ts";
import { AnyJson, JsonObject } from "../../../actors/kernel/json.ts";
import { Text, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

/** Bytes of a feedback or a reason. */
export const maxFeedbackBytes = 16_384;

const Name = Type.Optional(Type.String({ maxLength: 256 }));
const Feedback = Type.String({ maxLength: maxFeedbackBytes });

export const PendingQuery = Type.Object({
  ...pagingQuery,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Items per page; 500 when absent" })),
  execution_id: Name,
  descendants: Type.Boolean({
    default: false,
    description: "With execution_id: those of the sub-workflows of this root execution as well",
  }),
  workflow_name: Name,
  kind: Type.Optional(Type.Union([Type.Literal("workflow"), Type.Literal("fleet_run"), Type.Literal("tool_call")])),
});
export type PendingQuery = Static<typeof PendingQuery>;

export const HistoryQuery = Type.Object({
  ...pagingQuery,
  status: Type.Optional(
    Type.String({
      maxLength: 200,
      description: "approved, rejected, responded, timed_out, withdrawn; several by comma",
    }),
  ),
  execution_id: Name,
  workflow_name: Name,
  decided_by: Type.Optional(Type.String({ maxLength: 320, description: "Subject or e-mail address of the decider" })),
  from: Type.Optional(Type.String({ maxLength: 64, description: "Decided at this time or later" })),
  to: Type.Optional(Type.String({ maxLength: 64, description: "Decided at this time or earlier" })),
});
export type HistoryQuery = Static<typeof HistoryQuery>;

export const ApproveBody = Type.Object(
  {
    feedback: Type.Optional(Feedback),
    approved_by: Type.Optional(Type.String({ maxLength: 256 })),
    arguments: Type.Optional(
      Type.Unsafe<Static<typeof JsonObject>>({
        ...JsonObject,
        description:
          "Of a tool call that is `editable`: all its arguments, as it is to be run with. What is left as it was shown stays " +
          "the original, `[redacted]` too. The quorum counts anew",
      }),
    ),
    arguments_sha256: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          "Of a tool call: the `arguments_sha256` of the approval as it was read. Where another approver has changed the " +
          "arguments since, nothing is decided: 409 `arguments_changed`",
      }),
    ),
    remember: Type.Optional(
      Type.Unsafe<Remember>({
        ...Remember,
        description:
          "Of a tool call: what is not asked about again in this execution or session. `execution`: the same tool with equal " +
          "arguments; `tool`: the same tool; at most what the approval offers",
      }),
    ),
  },
  {
    examples: [{ feedback: "Ship it" }, { arguments: { title: "Printer broken", priority: "low" }, remember: "none" }],
  },
);
export type ApproveBody = Static<typeof ApproveBody>;
export const RejectBody = Type.Object(
  {
    reason: Feedback,
    rejected_by: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { examples: [{ reason: "The numbers of May are missing" }] },
);
export const LinkBody = Type.Object(
  { recipient: Type.String({ minLength: 3, maxLength: 254 }) },
  { examples: [{ recipient: "person@acme.example" }] },
);
/** JSON or a form. */
export const LinkDecisionBody = Type.Object(
  {
    decision: Type.Union([Type.Literal("approve"), Type.Literal("reject")]),
    feedback: Type.Optional(Feedback),
    reason: Type.Optional(Feedback),
    arguments_sha256: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { examples: [{ decision: "reject", reason: "The numbers of May are missing" }] },
);
export type LinkDecisionBody = Static<typeof LinkDecisionBody>;

const Decided = Type.Object({ status: Text, approval_id: Text, request_id: Text, decided_at: Time });
/** More people must approve. */
const Counted = Type.Object({
  status: Type.Literal("pending"),
  approval_id: Text,
  request_id: Text,
  approvals: Type.Integer(),
  quorum: Type.Integer(),
});
export const DecisionBody = Type.Union([Decided, Counted]);
export type DecisionBody = Static<typeof DecisionBody>;

export const OneApproval = Type.Union([
  Type.Object({ request: PendingApproval }),
  Type.Object({ error: Text, code: Type.Literal("approval_not_pending"), request_id: Text }),
]);
/** Whole, where the approval shows the start of them. */
export const AskedArguments = Type.Object({ tool: Text, arguments: AnyJson, arguments_sha256: Text });
export type AskedArguments = Static<typeof AskedArguments>;
export const IssuedLink = Type.Object({ url: Text, expires_at: Time });

/** By the names that the API document gives them. */
export const named = {
  PendingApproval,
  ApprovalRecord,
  ApprovalEvent,
  Approve: ApproveBody,
  Reject: RejectBody,
  ApprovalLinkRequest: LinkBody,
  ApprovalLink: IssuedLink,
  LinkDecision: LinkDecisionBody,
  ApprovalDecided: Decided,
  ApprovalCounted: Counted,
  ApprovalArguments: AskedArguments,
  ApprovalToolCall: ShownToolCall,
};
