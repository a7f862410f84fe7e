/** Pages that belong to steps of the protocol: the device flow, and signing out. */
import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { escaped } from "../../../http/page.ts";
import { field, hidden, showPage } from "./page.ts";

/** Against forms of other sites: kept in the session, compared by the provider. */
const xsrfOf = (context: KoaContextWithOIDC): string => {
  const state = context.oidc.session?.state;
  const secret = state?.secret;
  return typeof secret === "string" ? secret : "";
};

const actionOf = (context: KoaContextWithOIDC, route: string): string => new URL(context.oidc.urlFor(route)).pathname;

/** Where a person types what their device shows. */
export function deviceCodePage(context: KoaContextWithOIDC, out: ErrorOut | null, error: unknown): void {
  const isEnd = error instanceof Error && error.name === "AbortedError";
  const fault = out === null || isEnd ? null : "This code is not known, was used, or its time is over.";
  showPage(context, {
    status: context.status,
    title: isEnd ? "The device was not let in" : "Connect a device",
    fault,
    content: `<form method="post" action="${escaped(actionOf(context, "code_verification"))}">
${hidden("xsrf", xsrfOf(context))}
${field({ name: "user_code", label: "The eight letters that the device shows", autocomplete: "off" })}
<button>Continue</button>
</form>`,
  });
}

/** Where a person says that the device is theirs. */
export function confirmDevicePage(
  context: KoaContextWithOIDC,
  client: { readonly clientName?: string | undefined; readonly clientId: string },
  code: string,
): void {
  showPage(context, {
    title: "Is this your device?",
    content: `<p>${escaped(client.clientName ?? client.clientId)} asks to act for you. The device shows <code>${escaped(code)}</code>.
If you did not begin this yourself, do not go on.</p>
<form method="post" action="${escaped(actionOf(context, "code_verification"))}">
${hidden("xsrf", xsrfOf(context))}
${hidden("user_code", code)}
<button name="confirm" value="yes">It shows these letters: let it in</button>
<button class="quiet" name="abort" value="yes">No</button>
</form>`,
  });
}

export function deviceDonePage(context: KoaContextWithOIDC): void {
  showPage(context, { title: "The device is connected", content: "<p>You may close this page.</p>" });
}

/** Asks whether the person really wants to leave: other sites may lead here. */
export function signOutPage(context: KoaContextWithOIDC): void {
  showPage(context, {
    title: "Sign out?",
    content: `<form method="post" action="${escaped(actionOf(context, "end_session_confirm"))}">
${hidden("xsrf", xsrfOf(context))}
<button name="logout" value="yes">Sign out</button>
</form>`,
    leadsTo: leadsTo(context.oidc.session?.state?.postLogoutRedirectUri),
  });
}

export function signedOutPage(context: KoaContextWithOIDC): void {
  showPage(context, { title: "You are signed out", content: "<p>You may close this page.</p>" });
}

/** The origin of a client, where the answer to a form leads on to it. */
export const leadsTo = (uri: unknown): readonly string[] =>
  typeof uri === "string" && URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol) ? [new URL(uri).origin] : [];
