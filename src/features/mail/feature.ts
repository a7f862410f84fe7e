/** Mail to people: what the service writes to them by itself, within bounds. */
import { encryption } from "../encryption/feature.ts";
import { defineFeature } from "../feature.ts";
import { exported } from "./exported.ts";
import { createLetters, mailColumns } from "./letters.ts";

export const mail = defineFeature({
  name: "mail",
  exported,
  needs: { encryption },
  tenantTables: ["mails"],
  open({ sql, mail, now, newId, warn }, { encryption }) {
    const { letters, sending, start } = createLetters({ sql, encryption, mail, now, newId, warn });
    return {
      service: letters,
      queues: [{ name: "mails", depth: sending }],
      // Without a server there is nothing to send.
      jobs: mail === null ? [] : [start],
      sweeps: [() => encryption.startReencryption(mailColumns)],
    };
  },
});
