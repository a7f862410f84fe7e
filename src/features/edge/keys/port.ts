/** What other features may use of the keys that the service signs with towards hosts. */
import type { SigningKeys } from "../../encryption/port.ts";

export type EdgeKeys = Pick<SigningKeys, "current" | "held" | "find" | "published">;
