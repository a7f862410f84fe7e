/** What other features may use of approvals. */

export type { CallEditor } from "./call-edits.ts";
export { deciderOf, sourceOf } from "./caller.ts";
export type { Approvals, Signal } from "./service.ts";
export { shownArguments } from "./shown-arguments.ts";
