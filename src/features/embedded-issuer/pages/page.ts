/** What all pages of the provider have in common: one style, no foreign script, forms that lead nowhere else. */
import type { KoaContextWithOIDC } from "oidc-provider";
import { escaped, pageFrame } from "../../../http/page.ts";

/** What a page needs of a request and its answer; of any route of the provider. */
export type PageContext = Pick<KoaContextWithOIDC, "req" | "res" | "request" | "response"> & {
  status: number;
  body: unknown;
  set(headers: { readonly [name: string]: string }): void;
};

const style = `
body { max-width: 28rem; } label { display: block; margin: .75rem 0 .25rem; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid #8c959f; border-radius: 6px; }
button { margin-top: 1rem; background: #0b57d0; } .quiet { background: #57606a; } .fault { color: #a40e26; }
code, li.code { font: 15px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; } section { border-top: 1px solid #d0d7de; margin-top: 2rem; }
`;
/** Puts the token of a link, which stands behind the `#` and is sent to no server, into the form. */
const linkScript = `
const field = document.getElementById("token");
if (location.hash.length > 1) { field.value = decodeURIComponent(location.hash.slice(1)); history.replaceState(null, "", location.pathname); }
`;
const plain = pageFrame({ style, referrer: "same-origin" });
const withToken = pageFrame({ style, script: linkScript, referrer: "same-origin" });

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
  const frame = takesToken ? withToken : plain;
  context.set(frame.headers(leadsTo));
  const told = fault === null ? "" : `<p class="fault" role="alert">${escaped(fault)}</p>`;
  context.body = frame.text({ title, content: `${told}\n${content}` });
}

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
