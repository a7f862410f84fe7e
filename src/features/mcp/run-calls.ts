/** Calls that run an agent or a workflow: started by the tool that starts such things, then followed to the end. */
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Json } from "../../../actors/kernel/json.ts";
import { readRunArguments } from "../../../actors/tool/run-tools.ts";
import { workIdOf } from "../management-tools/port.ts";
import type { Asking, Made } from "./asking.ts";
import type { FaceCall } from "./call.ts";
import { principalOf } from "./calls.ts";
import type { Work } from "./following.ts";
import { answerOf, failure, resultOf } from "./results.ts";

/** Lines that a call tells on its way; the rest is in the execution's own stream. */
const maxLines = 1000;

/** What a client may run by name. */
export interface Runnable {
  readonly name: string;
  readonly input_schema: Json;
}

export interface RunCallsOptions {
  readonly asking: Pick<Asking, "make">;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** How one kind of thing is run. */
export interface RunKind {
  /** The tool that starts it. */
  readonly starts: string;
  readonly work: Work;
  argumentsOf(name: string, input: Json): { readonly [member: string]: Json };
}

export function createRunCalls({ asking, warn }: RunCallsOptions) {
  /** Waits for the end, as long as the client wants and the node stays. */
  async function waited({ work }: RunKind, { caller, signal, tell }: FaceCall, id: string, seconds: number) {
    const { tenant, stopping } = caller;
    let lines = 0;
    const bounded = (line: string) => {
      lines += 1;
      if (lines <= maxLines) tell(line);
    };
    if (seconds > 0) {
      const until = AbortSignal.any([signal, stopping, AbortSignal.timeout(seconds * 1000)]);
      await work.follow(tenant, id, bounded, until);
    }
    signal.throwIfAborted();
    return work.standing(tenant, id);
  }

  return {
    /** @throws the signal's reason when the client has left */
    async run(
      kind: RunKind,
      { name, input_schema }: Runnable,
      call: FaceCall,
    ): Promise<CallToolResult | InputRequiredResult> {
      const { caller, tool, given, key, signal } = call;
      const read = readRunArguments(input_schema, given);
      if (typeof read === "string") return failure(tool, "invalid_arguments", read);
      const { cancelScope } = kind.work;
      if (read.cancelOnDisconnect && !caller.identity.scopes.has(cancelScope)) {
        const message = `cancel_on_disconnect needs the scope ${cancelScope}`;
        return failure(tool, "insufficient_scope", message, { required: cancelScope });
      }
      try {
        const made = await asking.make(call, kind.starts, kind.argumentsOf(name, read.input));
        const id = startedId(made);
        if (id === null) return answerOf(tool, made);
        const { body, isOver, isGood } = await waited(kind, call, id, read.waitSeconds);
        return resultOf(body, isOver && !isGood);
      } catch (error) {
        // Known from the key of the call, also where the answer to the start was lost.
        if (signal.aborted && read.cancelOnDisconnect) {
          const id = workIdOf(caller.tenant, principalOf(caller), key);
          await kind.work.cancel(caller.tenant, id, "The client of the call has left").catch((reason: unknown) => {
            warn("mcp_cancel", { execution_id: id, reason: String(reason) });
          });
        }
        throw error;
      }
    },
  };
}

/** Null: nothing was started, or not yet. */
function startedId(made: Made): string | null {
  const isStarted = made.is === "succeeded" || (made.is === "ended" && made.outcome === "success");
  if (!isStarted) return null;
  const { execution_id } = made.result;
  return typeof execution_id === "string" ? execution_id : null;
}
