/** The keys that the service signs with towards edge hosts: enrollment tokens, and what it sends over their links. */
import { secret } from "../../../config/setting.ts";
import { encryption } from "../../encryption/feature.ts";
import { createSigningKeys } from "../../encryption/port.ts";
import { defineFeature } from "../../feature.ts";

export const edgeKeys = defineFeature({
  name: "edge/keys",
  needs: { encryption },
  settings: {
    edgeSigningKey: secret("SVC_EDGE_SIGNING_KEY", {
      meaning:
        "Ed25519 key that the service signs with towards edge hosts: PKCS#8 in PEM, `\\n` for its line ends allowed",
      defaultText: "made at the first start",
    }),
  },
  open({ settings, sql, warn }, { encryption }) {
    const keys = createSigningKeys({
      sql,
      encryption,
      table: "edge_signing_keys",
      setting: "SVC_EDGE_SIGNING_KEY",
      given: settings.edgeSigningKey,
      kidPrefix: "edge-",
      warn: (error) => warn("edge_keys", { error: String(error) }),
    });
    return {
      service: { current: keys.current, held: keys.held, find: keys.find, published: keys.published },
      sweeps: [() => keys.startTouching(), () => encryption.startReencryption([keys.encrypted])],
    };
  },
});
