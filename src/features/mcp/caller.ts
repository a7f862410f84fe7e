/** Who speaks to the tool server, for the time of one request. */
import type { Source } from "../../../actors/approval/messages.ts";
import type { Call } from "../../http/route.ts";

export interface FaceCaller extends Pick<Call, "identity" | "tenant" | "requestId" | "signal" | "stopping"> {
  /** The security context that the request names; null: that of such a caller. */
  readonly context: string | null;
  /** Where it comes from, for the history of what it decides. */
  readonly source: Source;
}
