/** What pages of a realm are served with: who they are about, and how their forms are read. */
import type { Provider } from "oidc-provider";
import type { Invited } from "../people/invited.ts";
import type { PersonRow } from "../people/records.ts";
import type { AskedBy, People } from "../people/service.ts";
import type { Saml } from "../saml/sign-in.ts";
import type { PageContext } from "./page.ts";

/** Characters of a form; no page of ours asks for more. */
const maxForm = 262_144;

/** The client by which a person signs in to their own account page. */
export const accountClientId = "svc-account";

/** A realm, as its pages know it. */
export interface PageRealm {
  readonly slug: string;
  /** Whose people they are. */
  readonly tenant: string;
  readonly issuer: string;
  /** Of the issuer, such as `/realms/svc-system`. */
  readonly path: string;
  /** Whether everybody needs a second factor. */
  readonly needsTotp: boolean;
  /** Whether people register themselves. */
  readonly hasSignUp: boolean;
}

/** Mails of pages. What they do shows in no answer. */
export interface PageMail {
  readonly isConfigured: boolean;
  reset(person: PersonRow, by: AskedBy): Promise<void>;
  signUp(given: { readonly address: string; readonly name: string; readonly hash: string }, by: AskedBy): Promise<void>;
}

export interface PageOf {
  readonly context: PageContext & {
    readonly method: string;
    readonly path: string;
    readonly query: NodeJS.Dict<string | string[]>;
    redirect(to: string): void;
  };
  readonly provider: Provider;
  readonly realm: PageRealm;
  readonly people: People;
  readonly mail: PageMail;
  readonly by: AskedBy;
  readonly saml: Saml;
  /** Whom a link's token invites; null for none. */
  readonly invited: (token: string) => Promise<Invited | null>;
}

export type Page = (page: PageOf) => Promise<void>;

/** The fields of the form that was sent; each once, others as if they were empty. */
export async function readForm({ context }: PageOf): Promise<(name: string) => string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of context.req) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > maxForm) break;
    chunks.push(bytes);
  }
  const fields = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  return (name) => {
    const values = fields.getAll(name);
    return values.length === 1 ? (values[0] ?? "") : "";
  };
}

/** Another page of the realm. @param way behind the realm's path, such as `/account` */
export function leadTo({ context, realm }: PageOf, way: string): void {
  context.status = 303;
  context.set({ Location: `${realm.path}${way}`, "Cache-Control": "no-store" });
  context.body = "";
}
