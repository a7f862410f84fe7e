/** A message to be co-committed, as the sender's turn left it. */
export interface CoCommitMessage {
  readonly kind: string;
  readonly key: string;
  /** The sender's, which must be the receiver's as well: the actors of another tenant do not exist for it. */
  readonly tenant: string;
  /** The key was made in the very turn that tells it, so there is no such actor yet. */
  readonly fresh: boolean;
  /** The form in which the outbox would carry it. */
  readonly wire: string;
}

export const noCoCommits: readonly CoCommitMessage[] = [];
