/** The page behind a decision link: what is asked, and a form for each of the two answers. No scripts. */
import { createHash } from "node:crypto";
import type { PendingApproval } from "../../../actors/approval/record.ts";

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; background: #f4f5f7; padding: 1rem; border-radius: 6px; }
form { margin: 1.5rem 0; } label { display: block; margin-bottom: .25rem; }
textarea { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; }
button { font: inherit; margin-top: .5rem; padding: .5rem 1.25rem; border: 0; border-radius: 6px; color: #fff; cursor: pointer; }
.approve { background: #116329; } .reject { background: #a40e26; } small { color: #57606a; }
`;
const styleHash = createHash("sha256").update(style).digest("base64");

/** Of everything that is answered at a link: it is not cached, not framed, and sends no referrer. */
export const linkHeaders = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
} as const;

const pageHeaders = {
  ...linkHeaders,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
};

/** What is asked. The forms are sent to where the page came from. */
export function questionPage(approval: PendingApproval): Response {
  const { workflow_name, state_name, prompt, expires_at } = approval;
  const subject = [workflow_name, state_name].filter((name) => name !== null).join(" / ");
  return page(
    200,
    "Your decision is needed",
    `<p>${escaped(subject)}</p>
<pre>${escaped(prompt)}</pre>
<form method="post">
<input type="hidden" name="decision" value="approve">
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

/** One sentence: what came of it, or why not. */
export function messagePage(status: number, message: string): Response {
  return page(status, message, "");
}

function page(status: number, title: string, content: string): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${content}
</body>
</html>
`;
  return new Response(text, { status, headers: pageHeaders });
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
