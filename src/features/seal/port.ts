/** What other features may use of signed calls. */
export type { Attempts } from "./attempts.ts";
