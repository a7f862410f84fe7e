/** Who is invited by the token of a link: a person who was made without a password, or a coming member of a tenant. */
import { randomUUID } from "node:crypto";
import type { Transaction } from "../../../store/postgres/pool.ts";
import type { PersonRow } from "./records.ts";
import type { People } from "./service.ts";

/** Invitations to a tenant, as the colony keeps them. */
export interface TenantInvitations {
  /** What a token invites to, while it is pending; null for all others. */
  find(token: string): Promise<{ readonly tenant: string; readonly address: string } | null>;
}

export interface Invited {
  readonly email: string;
  /** Makes the person able to sign in. @returns null when the link was used meanwhile, or the address is in use */
  take(tx: Transaction, given: { readonly name: string; readonly hash: string }): Promise<PersonRow | null>;
}

/** @returns null for a token that invites to nothing in this realm */
export async function invitedBy(
  people: People,
  invitations: TenantInvitations,
  realm: { readonly slug: string; readonly tenant: string },
  token: string,
): Promise<Invited | null> {
  const { links, records } = people;
  const link = await links.find(token, ["invitation"]);
  const person = link === null ? null : await records.byId(realm.slug, link.personId);
  if (person !== null) return person.status === "invited" ? ofPerson(people, realm.slug, person, token) : null;
  const invitation = realm.slug === `tenant-${realm.tenant}` ? await invitations.find(token) : null;
  if (invitation?.tenant !== realm.tenant) return null;
  return {
    email: invitation.address,
    // The membership follows at the person's first token, whose address is the invited one.
    async take(tx, { name, hash }) {
      const made = { tenant: realm.tenant, realm: realm.slug, email: invitation.address, name, role: null };
      const isNew = await records.add(tx, {
        ...made,
        id: randomUUID(),
        status: "active",
        emailVerified: true,
        passwordHash: hash,
      });
      return isNew ? records.byAddress(realm.slug, invitation.address, tx) : null;
    },
  };
}

function ofPerson({ links, records }: People, realm: string, person: PersonRow, token: string): Invited {
  return {
    email: person.email,
    async take(tx, { name, hash }) {
      if (!(await links.use(tx, token))) return null;
      const proven = { name, password_hash: hash, status: "active", email_verified: true } as const;
      await records.change(tx, person.id, proven);
      return records.byId(realm, person.id, tx);
    },
  };
}
