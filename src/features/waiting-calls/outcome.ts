/** What a call came to, in the words in which its callers hear of it. */
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import type { CallOutcome } from "../../../actors/tool-call/messages.ts";
import type { Invoked } from "../pipeline/port.ts";

type Body = { readonly [member: string]: Json };

export function outcomeOf(tool: string, invoked: Invoked): CallOutcome {
  switch (invoked.is) {
    case "succeeded": {
      const edited = invoked.edited === true ? { edited: true } : {};
      return { outcome: "success", result: { status: "success", ...invoked.result, ...edited } };
    }
    case "failed": {
      const { code, message, details = {}, issues } = invoked;
      const told: Body = isObject(details) ? details : { details };
      const members = issues === undefined ? told : { ...told, issues: [...issues] };
      return { ...failure(tool, code, message, members), executed: invoked.ran };
    }
    case "refused": {
      const { error_code, code, violation_type, message, details } = invoked;
      const ran = code === "output_size_exceeded";
      return { ...failure(tool, code, message, { ...details, error_code, violation_type }), executed: ran };
    }
    case "waiting":
      throw new Error("a call that was approved is asked about again");
  }
}

const failure = (tool: string, code: string, message: string, details: Body): CallOutcome => ({
  outcome: "failed",
  result: { ...details, status: "error", isError: true, tool, error: message, code, message },
});
