/** The page a person lands on behind the provider: what is stored for whom, and the form that does it. No scripts. */
import { escaped, pageFrame } from "../../../http/page.ts";
import type { OpenConsent } from "./consent.ts";
import type { CallbackFields } from "./schema.ts";

const frame = pageFrame({ referrer: "same-origin" });

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
  const leadsTo = successUrl === "" ? [] : [new URL(successUrl).origin];
  return new Response(frame.text({ title, content }), { headers: frame.headers(leadsTo) });
}
