/** What other features may use of approvals. */
export { deciderOf, sourceOf } from "./caller.ts";
export type { Approvals, Signal } from "./service.ts";
