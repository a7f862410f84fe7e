/** `spec.tools[].approval`: people who are asked before a call of the tool runs. */
import { approvers } from "../../manifest/approvers.ts";
import type { Fields } from "../../manifest/fields.ts";
import { object } from "../../manifest/object.ts";
import { choice, flag, integer, text } from "../../manifest/shape.ts";
import { maxQuorum, type ToolApproval } from "../../policy/security/spec.ts";
import { toolApprovalIssues } from "../../policy/security/written.ts";

const day = 86_400;

export const toolApproval = object({
  when: text({ max: 4096 }),
  approvers,
  forbid_initiator: flag(),
  quorum: integer(1, maxQuorum).or(1),
  timeout_seconds: integer(60, 7 * day).or(3600),
  on_timeout: choice("reject", "fail").or("reject"),
  editable: flag(),
  remember: choice("execution", "tool"),
  elicit: flag(),
})
  .strict("an approval of a tool")
  .build((read, fields: Fields): ToolApproval => {
    for (const { path, message, code } of toolApprovalIssues(read, "")) fields.issue(path.slice(1), message, code);
    return read;
  });
