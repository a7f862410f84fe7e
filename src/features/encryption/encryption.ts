/** Encryption at rest with the master keys of a node. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Secret } from "../../lib/secret.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import type { Incidents } from "../incidents/port.ts";
import type { Encryption, EncryptionContext } from "./encrypted.ts";
import {
  type DecryptionFailure,
  decryptText,
  encryptText,
  fingerprintOf,
  type MasterKey,
  masterKeyOf,
  prefixOf,
} from "./envelope.ts";
import { masterKeyFromFile } from "./master-key-file.ts";

export interface EncryptionOptions {
  readonly current: MasterKey;
  /** Only decrypts; null outside a rotation. */
  readonly previous: MasterKey | null;
  readonly incidents: Pick<Incidents, "report">;
}

export function createEncryption({ current, previous, incidents }: EncryptionOptions): Encryption {
  const earlier = previous === null || previous.id === current.id ? null : previous;
  const masters = earlier === null ? [current] : [current, earlier];
  const outdatedPrefix = earlier === null ? null : prefixOf(earlier);

  function reportFailure({ tenant, record, version }: EncryptionContext, why: DecryptionFailure): void {
    incidents.report({
      category: "decryption_failed",
      tenant,
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: null,
      violationType: why,
      details: { record, version },
    });
  }

  return {
    outdatedPrefix,
    encrypt: (context, plain) => encryptText(current, context, plain),
    decrypt(context, ciphertext) {
      const decrypted = decryptText(masters, context, ciphertext);
      if ("plain" in decrypted) return decrypted.plain;
      reportFailure(context, decrypted.why);
      throw new Problem("decryption_failed", "What is stored encrypted cannot be decrypted");
    },
    decryptForeign(context, ciphertext) {
      const decrypted = decryptText(masters, context, ciphertext);
      return "plain" in decrypted ? decrypted.plain : null;
    },
    fingerprint: (bytes) => fingerprintOf(current, bytes),
    isOutdated: (ciphertext) => outdatedPrefix !== null && ciphertext.startsWith(outdatedPrefix),
  };
}

export interface OpenEncryptionOptions {
  /** SVC_MASTER_KEY, 32 bytes in base64; null: the one kept in the data folder. */
  readonly masterKey: Secret | null;
  /** SVC_MASTER_KEY_PREVIOUS */
  readonly previousMasterKey: Secret | null;
  readonly development: boolean;
  readonly dataDir: string;
  readonly incidents: Pick<Incidents, "report">;
}

/** @throws StartFailure when there is no master key to be had */
export async function openEncryption(options: OpenEncryptionOptions): Promise<Encryption> {
  const { masterKey, previousMasterKey, development, dataDir, incidents } = options;
  if (masterKey === null && !development) throw new StartFailure("SVC_MASTER_KEY is required in production.");
  const current = masterKey === null ? await masterKeyFromFile(dataDir) : masterKeyOf(masterKey.reveal());
  const previous = previousMasterKey === null ? null : masterKeyOf(previousMasterKey.reveal());
  return createEncryption({ current, previous, incidents });
}
