/** The page a person lands on behind the provider: what is stored for whom, and the form that does it. No scripts. */
import { createHash } from "node:crypto";
import type { OpenConsent } from "./consent.ts";
import type { CallbackFields } from "./schema.ts";

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; }
dt { color: #57606a; } dd { margin: 0 0 .75rem; overflow-wrap: anywhere; } small { color: #57606a; }
button { font: inherit; padding: .5rem 1.25rem; border: 0; border-radius: 6px; color: #fff; background: #116329; cursor: pointer; }
`;
const styleHash = createHash("sha256").update(style).digest("base64");

/** Where the form may lead: here, and to the page that follows it. */
const headersOf = (successUrl: string) => ({
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  // The form's own origin has to be told, as a node in development looks at it; nothing is told to others.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'${
    successUrl === "" ? "" : ` ${new URL(successUrl).origin}`
  }; base-uri 'none'; frame-ancestors 'none'`,
});

/** The form is sent to where the page came from, without its query. */
export function consentPage({ provider, initiator, tenant }: OpenConsent, fields: CallbackFields, successUrl: string) {
  const hidden = [
    ["state", fields.state],
    ["code", fields.code],
    ["iss", fields.iss],
  ]
    .filter(([, value]) => value !== undefined)
    .map(([name = "", value = ""]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`);
  return page(
    "Store this access?",
    `<dl>
<dt>Access to</dt><dd>${escaped(provider)}</dd>
<dt>Asked for by</dt><dd>${escaped(initiator)}</dd>
<dt>Stored in the tenant</dt><dd>${escaped(tenant)}</dd>
</dl>
<form method="post" action="callback">
${hidden.join("\n")}
<button>Store it</button>
</form>
<p><small>Close this page if you did not ask for it: then nothing is stored.</small></p>`,
    successUrl,
  );
}

export const storedPage = (provider: string): Response =>
  page("Access is stored", `<p>${escaped(provider)} can be used now. This page may be closed.</p>`, "");

function page(title: string, content: string, successUrl: string): Response {
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
  return new Response(text, { headers: headersOf(successUrl) });
}

const escaped = (text: string): string => Bun.escapeHTML(text);
