/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  people: {
    columns: "id realm email email_verified name role status last_sign_in_at created_at updated_at",
    withheld: {
      "password_hash password_expired totp_ciphertext totp_version totp_confirmed_at totp_step":
        "what they sign in with",
      email_folded: "the address once more",
    },
  },
  person_tokens: "links that open something",
  person_recovery_codes: "what people sign in with",
  sign_in_failures: "wrong passwords of the last minutes",
  issuer_records: "sessions and tokens",
  issuer_keys: "keys",
  saml_requests: "sign-ins under way",
};
