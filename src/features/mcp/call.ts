/** One call of a tool, as a request of the protocol brings it. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { FaceCaller } from "./caller.ts";
import type { Carried } from "./request-state.ts";

export interface FaceCall {
  readonly caller: FaceCaller;
  /** As the client names the tool. */
  readonly tool: string;
  readonly given: { readonly [member: string]: Json };
  /** Of this call: a UUID; of one that goes on, the one it began with. */
  readonly key: string;
  /** Whether the client can ask its person for input. */
  readonly elicits: boolean;
  /** Of a call that goes on behind a question; null: it is a new one. */
  readonly carried: Carried | null;
  /** What the client's person answered, by the names of what was asked; as the client has it. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** Aborted when the client cancels or is gone. */
  readonly signal: AbortSignal;
  /** Tells a client that asks for progress. */
  readonly tell: (line: string) => void;
}
