/** What all pages of the provider have in common: one style, no foreign script, forms that lead nowhere else. */
import { createHash } from "node:crypto";
import type { KoaContextWithOIDC } from "oidc-provider";

/** What a page needs of a request and its answer; of any route of the provider. */
export type PageContext = Pick<KoaContextWithOIDC, "req" | "res" | "request" | "response"> & {
  status: number;
  body: unknown;
  set(headers: { readonly [name: string]: string }): void;
};

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; }
form { margin: 1.5rem 0; } label { display: block; margin: .75rem 0 .25rem; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid #8c959f; border-radius: 6px; }
button { font: inherit; margin-top: 1rem; padding: .5rem 1.25rem; border: 0; border-radius: 6px; color: #fff; background: #0b57d0; cursor: pointer; }
.quiet { background: #57606a; } .fault { color: #a40e26; } small, dt { color: #57606a; } dd { margin: 0 0 .75rem; }
code, li.code { font: 15px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; } section { border-top: 1px solid #d0d7de; margin-top: 2rem; }
`;
/** Puts the token of a link, which stands behind the `#` and is sent to no server, into the form. */
const linkScript = `
const field = document.getElementById("token");
if (location.hash.length > 1) { field.value = decodeURIComponent(location.hash.slice(1)); history.replaceState(null, "", location.pathname); }
`;
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const styleHash = hashOf(style);
const linkScriptHash = hashOf(linkScript);

export interface PageOptions {
  readonly status?: number;
  readonly title: string;
  /** HTML; texts in it are escaped already. */
  readonly content: string;
  /** Told above the content: why something was not done. */
  readonly fault?: string | null;
  /** Where answers to the page's forms may lead beside the provider itself: origins. */
  readonly leadsTo?: readonly string[];
  /** Whether the page takes the token of a link. */
  readonly takesToken?: boolean;
}

/** Answers with a page. */
export function showPage(context: PageContext, options: PageOptions): void {
  const { status = 200, title, content, fault = null, leadsTo = [], takesToken = false } = options;
  context.status = status;
  context.set(pageHeaders(leadsTo, takesToken));
  context.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${fault === null ? "" : `<p class="fault" role="alert">${escaped(fault)}</p>`}
${content}
</main>
${takesToken ? `<script>${linkScript}</script>` : ""}
</body>
</html>
`;
}

/** `same-origin` rather than `no-referrer`: with the latter a browser hides from us that a form is our own. */
const pageHeaders = (leadsTo: readonly string[], takesToken: boolean) => ({
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "X-Robots-Tag": "noindex",
  "Content-Security-Policy": [
    "default-src 'none'",
    `style-src ${styleHash}`,
    ...(takesToken ? [`script-src ${linkScriptHash}`] : []),
    `form-action ${["'self'", ...leadsTo].join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
});

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand in HTML, in attributes too. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

/** A field with its label. */
export function field(options: {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "password" | "email";
  readonly autocomplete: string;
  readonly value?: string;
  readonly optional?: boolean;
}): string {
  const { name, label, type = "text", autocomplete, value = "", optional = false } = options;
  return `<label for="${name}">${escaped(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${escaped(value)}"${optional ? "" : " required"}>`;
}

/** A field that is sent without being seen. */
export const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`;

/** Of answers of the provider that are no page of ours: one of them sends a form by a script, which it adds here. */
export const plainPolicy = {
  "Content-Security-Policy": "default-src 'none'; script-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
} as const;
