/** What the provider mails: links to a new password, to an account that was registered, to an invitation. */
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Letters as Post } from "../../mail/port.ts";
import { type Links, linkLifetimeMs } from "./links.ts";
import type { PersonRow } from "./records.ts";
import type { AskedBy, People } from "./service.ts";

export interface LettersOptions {
  readonly sql: Sql;
  readonly people: People;
  readonly links: Links;
  readonly post: Post;
  readonly issuerOf: (realm: string) => string;
  readonly now: () => number;
  readonly newId: () => string;
}

export function createLetters({ sql, people, links, post, issuerOf, now, newId }: LettersOptions) {
  /** Makes a link, mails it where mail is sent, and tells it where not. */
  async function linked(
    tx: Transaction,
    person: Pick<PersonRow, "id" | "tenant" | "realm" | "email">,
    purpose: "invitation" | "reset" | "sign_up",
  ): Promise<string> {
    const token = await links.make(tx, person, purpose);
    const page = { invitation: "invitation", reset: "reset", sign_up: "sign-up/confirm" }[purpose];
    const url = `${issuerOf(person.realm)}/${page}#${token}`;
    if (post.isConfigured) {
      const expiresAt = now() + linkLifetimeMs[purpose];
      await post.post(tx, { tenant: person.tenant, to: person.email, expiresAt, ...letter(purpose, url) });
    }
    return url;
  }

  return {
    isConfigured: post.isConfigured,
    linked,
    sendSoon: () => post.sendSoon(),

    /** A link to a new password, asked for on the page. */
    async reset(person: PersonRow, by: AskedBy): Promise<void> {
      if (!post.isConfigured) return;
      await sql.begin(async (tx) => {
        await linked(tx, person, "reset");
        await people.told(tx, person, by, "person.reset_sent");
      });
      post.sendSoon();
    },

    /** A registration, which counts once its address is proven. One of an address that is in use does nothing. */
    async signUp(
      realm: { readonly slug: string; readonly tenant: string },
      given: { readonly address: string; readonly name: string; readonly hash: string },
      by: AskedBy,
    ): Promise<void> {
      const { address, name, hash } = given;
      await sql.begin(async (tx) => {
        const id = newId();
        const known = await people.records.byAddress(realm.slug, address, tx);
        if (known !== null && known.status !== "invited") return;
        if (known !== null) await people.records.change(tx, known.id, { name, password_hash: hash });
        else {
          const made = { id, tenant: realm.tenant, realm: realm.slug, email: address, name, role: null } as const;
          await people.records.add(tx, { ...made, status: "invited", emailVerified: false, passwordHash: hash });
        }
        const person = await people.records.byAddress(realm.slug, address, tx);
        if (person === null) return;
        await linked(tx, person, "sign_up");
        await people.told(tx, person, by, "person.registered");
      });
      post.sendSoon();
    },
  };
}

export type Letters = ReturnType<typeof createLetters>;

function letter(purpose: "invitation" | "reset" | "sign_up", url: string) {
  switch (purpose) {
    case "invitation":
      return {
        subject: "You are invited",
        text: `You are invited to sign in. Choose a password here, within seven days:\n\n${url}\n`,
      };
    case "reset":
      return {
        subject: "A new password",
        text: `Set a new password here, within 30 minutes:\n\n${url}\n\nIf you did not ask for it, leave this mail alone.\n`,
      };
    default:
      return {
        subject: "Is this your address?",
        text: `An account was registered with your address. If that was you, confirm it here within a day:\n\n${url}\n\nIf not, leave this mail alone.\n`,
      };
  }
}
