/** What an invited person is told. */

export interface InvitationNews {
  /** As the colony is shown. */
  readonly name: string;
  readonly role: "admin" | "member";
  readonly link: string;
  /** Unix ms. */
  readonly expiresAt: number;
}

export function invitationMail({ name, role, link, expiresAt }: InvitationNews): {
  readonly subject: string;
  readonly text: string;
} {
  const lines = [
    `You are invited to work in "${name}" as ${role}.`,
    "",
    "Accept the invitation here, signed in with this address:",
    link,
    "",
    `It holds until ${new Date(expiresAt).toISOString()}, once. If you expected none, there is nothing to do.`,
  ];
  // The name is a member's choice: a subject shows it to who has not asked for it.
  return { subject: "You are invited to work together", text: lines.join("\n") };
}
