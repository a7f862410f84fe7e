/** Exit codes of the whole command line, those of hosts and fleet runs included: a closed table. */

export const exits = {
  ok: 0,
  /** Work itself failed, hosts or commands did, or anything that has no code of its own. */
  failed: 1,
  /** The words are wrong, or what they ask for is invalid. */
  usage: 2,
  /** Not signed in, or not allowed. */
  authentication: 3,
  /** The state does not allow it, or what is named does not exist. */
  conflict: 4,
  unavailable: 5,
  halted: 6,
  cancelled: 7,
  deadline: 8,
  minimum: 9,
} as const;

export type Exit = keyof typeof exits;

const byStatus: Readonly<Record<number, Exit>> = {
  400: "usage",
  401: "authentication",
  403: "authentication",
  404: "conflict",
  409: "conflict",
  410: "conflict",
  412: "conflict",
  413: "usage",
  415: "usage",
  422: "usage",
  429: "unavailable",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};
/** Where the status alone misleads: limits of a plan or of runs do not pass by waiting a moment. */
const byCode: Readonly<Record<string, Exit>> = {
  quota_exceeded: "failed",
  enrollment_token_expired: "authentication",
  enrollment_token_revoked: "authentication",
};

/** What a refusal of the service means. */
export const exitOfRefusal = (status: number, code: string): Exit => byCode[code] ?? byStatus[status] ?? "failed";
