/** The way over a tenant's own identity provider: there by a redirect, back by a form that the provider's page sends. */
import type { PersonRow } from "../people/records.ts";
import { leadTo, type Page, type PageOf, readForm } from "./frame.ts";
import { showPage } from "./page.ts";
import { end, interactionOf } from "./sign-in.ts";

/** The cookies of a sign-in do not come with a form of another site: what it proved waits under this purpose. */
const stage = (uid: string): string => `${uid} saml`;

function showRefused({ context }: PageOf): void {
  showPage(context, {
    status: 403,
    title: "This sign-in does not count",
    content: "<p>Go back to where you came from and begin again.</p>",
  });
}

/** Leads to the other provider, and ends the sign-in once it has answered. */
export const samlPage: Page = async (page) => {
  const { context, saml, realm, people } = page;
  const interaction = await interactionOf(page);
  if (interaction === null || context.method !== "GET") return showRefused(page);
  const token = context.query.token;
  if (token === undefined) {
    const to = await saml.begin(realm, interaction.uid);
    if (to === null) return leadTo(page, `/sign-in/${interaction.uid}`);
    context.status = 303;
    context.set({ Location: to, "Cache-Control": "no-store" });
    context.body = "";
    return;
  }
  const link = typeof token === "string" ? await people.links.find(token, ["sign_in"], stage(interaction.uid)) : null;
  const person = link === null ? null : await people.records.byId(realm.slug, link.personId);
  if (typeof token !== "string" || person?.status !== "active") return showRefused(page);
  if (!(await people.usedOnce(token))) return showRefused(page);
  await end(page, person, ["saml"]);
};

/** Takes the other provider's answer. It comes from its page, so that no cookie of ours proves whose it is. */
export const assertionPage: Page = async (page) => {
  const { saml, realm, people } = page;
  const form = await readForm(page);
  const found = await saml.finish(realm, form("SAMLResponse"));
  if (found === null) return showRefused(page);
  const person = await personOf(page, found.address, found.name);
  if (person?.status !== "active") return showRefused(page);
  const token = await people.links.make(people.sql, person, "sign_in", stage(found.boundTo));
  leadTo(page, `/sign-in/${found.boundTo}/saml?token=${token}`);
};

/** Known by the address; at the first sign-in made, for the tenant's provider says who its people are. */
async function personOf(
  { people, realm, by }: PageOf,
  address: string,
  name: string | null,
): Promise<PersonRow | null> {
  const known = await people.records.byAddress(realm.slug, address);
  if (known !== null) return known;
  return (await people.sql.begin(async (tx) => {
    await people.records.add(tx, {
      id: people.newId(),
      tenant: realm.tenant,
      realm: realm.slug,
      email: address,
      emailVerified: true,
      name,
      role: null,
      status: "active",
      passwordHash: null,
    });
    const made = await people.records.byAddress(realm.slug, address, tx);
    if (made !== null) await people.told(tx, made, by, "person.activated", { by: "saml" });
    return made;
  })) as PersonRow | null;
}
