/**
 * Edits of a tool call by its approver: what stands in one as it was shown means the original, and what runs the call
 * says whether it may be run so.
 */

import type { Decider, Open } from "../../../actors/approval/messages.ts";
import { decisionRefusal } from "../../../actors/approval/permissions.ts";
import { restored } from "../../../actors/approval/shown.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { CallArguments } from "../../../actors/approval/tool-call.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { type Issue, Problem } from "../../../actors/kernel/problem.ts";
import { isStorableJson } from "../../../actors/manifest/storable.ts";

type Arguments = CallArguments["given"];

/** A call with the arguments that an approver wants it to run with. */
export interface EditedCall {
  readonly tenant: string;
  /** The actor that asked. */
  readonly owner: Open["owner"];
  readonly executionId: string;
  readonly invocationId: string;
  readonly tool: string;
  readonly arguments: Arguments;
}

/** Checks edited arguments against the tool's schema and the static constraints on the call, as both are today. */
export type CallEditor = (
  call: EditedCall,
) => Promise<
  | { readonly fits: true; readonly arguments: CallArguments }
  | { readonly fits: false; readonly issues: readonly Issue[] }
>;

interface Approver {
  readonly tenant: string;
  readonly by: Decider;
  readonly managesFleet: boolean;
}

export function callEdits() {
  const editors = new Map<string, CallEditor>();
  return {
    add(ownerKind: string, editor: CallEditor): void {
      editors.set(ownerKind, editor);
    },

    /**
     * What an edit means. Of an approval that cannot be given it is not read any further: the approval says why.
     * @throws Problem 422 `invalid_arguments`
     */
    async read({ tenant, by, managesFleet }: Approver, state: ApprovalState, edit: Arguments): Promise<CallArguments> {
      const { request, call } = state;
      const { tool_call, owner, execution_id } = request;
      const unread: CallArguments = { given: {}, redacted: {}, sha256: "" };
      // Its time is judged by the approval alone: by this node's clock one might be refused here that is taken there.
      if (state.status !== "pending" || decisionRefusal(state, by, managesFleet) !== null) return unread;
      if (tool_call?.editable !== true || call === undefined || call.given === null) return unread;
      if (!isStorableJson(edit)) throw invalidArguments([issue("", "may not hold NUL or broken Unicode")]);
      const { value, faults } = restored(edit as Json, tool_call.arguments, call.given as Json);
      if (faults.length > 0) {
        throw invalidArguments(faults.map((path) => issue(path, "says [redacted] where nothing was left out")));
      }
      if (!isObject(value)) throw invalidArguments([issue("", "must be an object")]);
      const editor = editors.get(owner.kind);
      if (editor === undefined) throw new Problem("service_unavailable", "This node cannot check edits of such a call");
      const { tool, invocation_id: invocationId } = tool_call;
      const found = await editor({ tenant, owner, executionId: execution_id, invocationId, tool, arguments: value });
      if (!found.fits) throw invalidArguments(found.issues);
      return found.arguments;
    },
  };
}

const issue = (path: string, message: string): Issue => ({ path: `arguments${path}`, message, code: "invalid" });

const invalidArguments = (issues: readonly Issue[]): Problem =>
  new Problem("invalid_arguments", "The tool does not take these arguments", { issues: [...issues] });
