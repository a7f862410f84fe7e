/** The colony, as other features use it: where its people sign in and accept invitations. */
export type { AppliedSaml, SamlConnector } from "./saml/service.ts";

/** Where people of a tenant accept an invitation, without the token; null: not there. */
export type LinkBase = (tenant: string) => string | null;
