/** Encryption at rest: the node's master keys, and the replacing of the previous one. */
import { secret } from "../../config/setting.ts";
import { defineFeature } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import type { EncryptedColumn } from "./encrypted.ts";
import { openEncryption } from "./encryption.ts";
import { startReencryption } from "./reencryption.ts";

export const encryption = defineFeature({
  name: "encryption",
  needs: { incidents },
  settings: {
    masterKey: secret("SVC_MASTER_KEY", {
      meaning: "key that stored secrets are encrypted with; required in production",
      bytes: 32,
      defaultText: "kept in SVC_DATA_DIR in development",
    }),
    previousMasterKey: secret("SVC_MASTER_KEY_PREVIOUS", {
      meaning: "the key before: it still decrypts, and what it encrypted is encrypted again with SVC_MASTER_KEY",
      bytes: 32,
    }),
  },
  contradictions: ({ masterKey }, { production }) =>
    production && masterKey === null
      ? ["SVC_MASTER_KEY is required in production: 32 bytes in base64, as openssl rand -base64 32 prints"]
      : [],
  async open({ settings, sql, dataDir, development, info }, { incidents }) {
    const { masterKey, previousMasterKey } = settings;
    const encryption = await openEncryption({ masterKey, previousMasterKey, development, dataDir, incidents });
    return {
      service: {
        ...encryption,
        /** Encrypts again what the previous master key encrypted in these columns. @returns a function that stops it */
        startReencryption: (columns: readonly EncryptedColumn[]) =>
          startReencryption({ sql, encryption, columns, report: info }),
      },
    };
  },
});
