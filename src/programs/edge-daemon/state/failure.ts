/** Why the program ends, in words for who runs it, with the code that it exits with. */

/** Exit codes of `svc edge`; the daemon ends with these. */
export const exits = {
  ok: 0,
  failed: 1,
  usage: 2,
  authentication: 3,
  conflict: 4,
  unavailable: 5,
} as const;

export type Exit = (typeof exits)[keyof typeof exits];

/** What the program cannot go on with. Its message is shown to who runs it; it holds no secret. */
export class EdgeFailure extends Error {
  override readonly name = "EdgeFailure";
  constructor(
    readonly exit: Exit,
    message: string,
  ) {
    super(message);
  }
}
