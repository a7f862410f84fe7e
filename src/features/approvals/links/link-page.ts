/** The page behind a decision link: what is asked, and a form for each of the two answers. No scripts. */
import type { ApprovalSummary, PendingApproval } from "../../../../actors/approval/record.ts";
import { type DecidedBy, nameOf } from "../../../../actors/approval/state.ts";
import { escaped, pageFrame, privateHeaders } from "../../../http/page.ts";
import { callText } from "../call-text.ts";

const frame = pageFrame({
  referrer: "no-referrer",
  style: `
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; background: #f4f5f7; padding: 1rem; border-radius: 6px; }
label { display: block; margin-bottom: .25rem; } button { margin-top: .5rem; } .reject { background: #a40e26; }
textarea { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
`,
});

/** Of everything that is answered at a link. */
export const linkHeaders = privateHeaders("no-referrer");

/** What is asked. The forms are sent to where the page came from. */
export function questionPage(approval: PendingApproval): Response {
  const { workflow_name, state_name, prompt, expires_at, tool_call } = approval;
  const subject = [workflow_name, state_name].filter((name) => name !== null).join(" / ");
  return page(
    200,
    "Your decision is needed",
    `<p>${escaped(subject)}</p>
<pre>${escaped(tool_call ? callText(prompt, tool_call) : prompt)}</pre>
<form method="post">
<input type="hidden" name="decision" value="approve">
${tool_call ? `<input type="hidden" name="arguments_sha256" value="${escaped(tool_call.arguments_sha256)}">` : ""}
<label for="feedback">Remarks (optional)</label>
<textarea id="feedback" name="feedback" rows="3" maxlength="16384"></textarea>
<button class="approve">Approve</button>
</form>
<form method="post">
<input type="hidden" name="decision" value="reject">
<label for="reason">Reason</label>
<textarea id="reason" name="reason" rows="3" maxlength="16384" required></textarea>
<button class="reject">Reject</button>
</form>
<p><small>This can be decided until <time>${escaped(expires_at)}</time>, once.</small></p>`,
  );
}

const headings: Readonly<Record<ApprovalSummary["status"], string>> = {
  pending: "This is not decided yet",
  approved: "This was approved",
  rejected: "This was rejected",
  responded: "This was answered",
  timed_out: "No approver decided in time",
  withdrawn: "This is no longer asked",
};

/** What was decided, by whom and when: what is left to see at a link that cannot decide any more. */
export function outcomePage(status: number, approval: ApprovalSummary): Response {
  const { workflow_name, state_name, decided_by, decided_at, approvals, quorum, expires_at } = approval;
  const facts = [
    ["Asked by", [workflow_name, state_name].filter((name) => name !== null).join(" / ")],
    ["Answer", approval.status === "responded" || approval.status === "timed_out" ? approval.response : null],
    ["Decided by", decided_by === null ? null : decider(decided_by)],
    ["Decided at", approval.status === "withdrawn" ? null : decided_at],
    ["Approvals", quorum > 1 ? `${approvals} of ${quorum}` : null],
    ["To be decided until", approval.status === "pending" ? expires_at : null],
  ] as const;
  const rows = facts
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value ?? "")}</dd>`);
  return page(
    status,
    headings[approval.status],
    `<dl>
${rows.join("\n")}
</dl>
${approval.status === "pending" ? "<p><small>This link cannot decide any more.</small></p>" : ""}`,
  );
}

/** As history has it: of a link, that it was one, and who issued it. */
function decider(by: DecidedBy): string {
  if (by.issued_by === undefined) return by.kind === "link" ? `${nameOf(by)}, by a decision link` : nameOf(by);
  if (by.issued_by === null) return `${nameOf(by)}, by the link in a mail`;
  return `${nameOf(by)}, by a link that ${nameOf(by.issued_by)} issued`;
}

/** One sentence: why something was not done. */
export function messagePage(status: number, message: string): Response {
  return page(status, message, "");
}

function page(status: number, title: string, content: string): Response {
  return new Response(frame.text({ title, content }), { status, headers: frame.headers() });
}
