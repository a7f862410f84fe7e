/** The sealer of a node, as its settings say. */
import type { Secret } from "../../lib/secret.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import type { Incidents } from "../incidents/incidents.ts";
import { masterKeyOf } from "./envelope.ts";
import { keptMasterKey } from "./kept-key.ts";
import type { Sealer } from "./port.ts";
import { createSealer } from "./sealer.ts";

export interface OpenSealerOptions {
  /** SVC_MASTER_KEY, 32 bytes in base64; null: the one kept in the data folder. */
  readonly masterKey: Secret | null;
  /** SVC_MASTER_KEY_PREVIOUS */
  readonly previousMasterKey: Secret | null;
  readonly development: boolean;
  readonly dataDir: string;
  readonly incidents: Pick<Incidents, "report">;
}

/** @throws StartFailure when there is no master key to be had */
export async function openSealer(options: OpenSealerOptions): Promise<Sealer> {
  const { masterKey, previousMasterKey, development, dataDir, incidents } = options;
  if (masterKey === null && !development) throw new StartFailure("SVC_MASTER_KEY is required in production.");
  const current = masterKey === null ? await keptMasterKey(dataDir) : masterKeyOf(masterKey.reveal());
  const previous = previousMasterKey === null ? null : masterKeyOf(previousMasterKey.reveal());
  return createSealer({ current, previous, incidents });
}
