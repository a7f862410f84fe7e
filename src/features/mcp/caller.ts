/** Who speaks to the tool server, for the time of one request. */
import type { Call } from "../../http/route.ts";

export type FaceCaller = Pick<Call, "identity" | "tenant" | "requestId" | "signal" | "stopping">;
