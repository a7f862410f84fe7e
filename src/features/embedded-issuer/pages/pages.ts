/** Which page answers which path of a realm, and what every page's form has to prove. */
import type { Provider } from "oidc-provider";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { invitedBy, type TenantInvitations } from "../people/invited.ts";
import type { Letters } from "../people/letters.ts";
import type { AskedBy, People } from "../people/service.ts";
import type { Saml } from "../saml/sign-in.ts";
import { accountPage } from "./account.ts";
import type { Page, PageRealm } from "./frame.ts";
import { confirmPage, invitationPage, resetPage, signUpPage } from "./links.ts";
import { plainPolicy, showPage } from "./page.ts";
import { assertionPage, samlPage } from "./saml.ts";
import { bareSignInPage, signInPage } from "./sign-in.ts";

export interface PageParts {
  readonly people: People;
  readonly letters: Letters;
  readonly saml: Saml;
  readonly invitations: TenantInvitations;
  /** Of the pages' own address. */
  readonly origin: string;
}

/** Who asks, in headers that the node's listener sets. */
export const askedHeaders = { address: "x-svc-address", requestId: "x-svc-request-id" } as const;

const pages: Readonly<Record<string, Page>> = {
  "/sign-in": bareSignInPage,
  "/account": accountPage,
  "/invitation": invitationPage,
  "/reset": resetPage,
  "/sign-up": signUpPage,
  "/sign-up/confirm": confirmPage,
  "/saml/acs": assertionPage,
};

/** Sent by the page of a tenant's provider: what it holds proves itself. */
const assertionPath = "/saml/acs";

function pageAt(path: string): Page | null {
  if (Object.hasOwn(pages, path)) return pages[path] ?? null;
  if (!path.startsWith("/sign-in/")) return null;
  return path.endsWith("/saml") ? samlPage : signInPage;
}

/** Has the provider answer its pages. */
export function servePages(provider: Provider, realm: PageRealm, parts: PageParts): void {
  const { people, letters, saml, invitations, origin } = parts;
  provider.use(async (context, next) => {
    context.set(plainPolicy);
    const page = pageAt(context.path);
    if (page === null) return next();
    if (context.method !== "GET" && context.method !== "POST") return next();
    if (context.method === "POST" && context.path !== assertionPath && !isOwnForm(context.req.headers, origin)) {
      showPage(context, { status: 403, title: "This form came from elsewhere", content: "" });
      return;
    }
    const by: AskedBy = {
      ip: context.get(askedHeaders.address) || null,
      user_agent: context.get("user-agent").slice(0, 512) || null,
      request_id: context.get(askedHeaders.requestId) || null,
    };
    try {
      await page({
        context,
        provider,
        realm,
        people,
        saml,
        by,
        mail: {
          isConfigured: letters.isConfigured,
          reset: letters.reset,
          signUp: (given, asked) => letters.signUp(realm, given, asked),
        },
        invited: (token) => invitedBy(people, invitations, realm, token),
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      showPage(context, { status: error.status, title: "This did not work", content: "", fault: error.message });
    }
  });
}

/**
 * Whether a form was sent by a page of ours: browsers say from which site a form comes, in a header that pages cannot
 * write. What says neither is refused.
 */
function isOwnForm(headers: NodeJS.Dict<string | string[]>, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  return headers.origin === undefined ? site === "same-origin" : headers.origin === origin;
}
