/** The colony, as other features use it: where its people accept invitations. */

/** Where people of a tenant accept an invitation, without the token; null: not there. */
export type LinkBase = (tenant: string) => string | null;
