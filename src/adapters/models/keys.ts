/** Keys of providers: what may be one, and those that stand in a secret, which is read when the provider is asked. */
import type { SecretReference } from "../../../actors/manifest/references.ts";
import { Secret } from "../../lib/secret.ts";
import { AttemptError, type Provider } from "./attempt.ts";

/**
 * What a reference to a key means now, or why it means none, as the end of a sentence about it.
 * @throws where the secrets are away
 */
export type KeySource = (reference: SecretReference) => Promise<Secret | { readonly missing: string }>;

/** A key as it is sent; null for a text with characters that no key has. */
export function keyOfText(text: string): Secret | null {
  const key = text.trim();
  return /^[\x21-\x7e]+$/.test(key) ? new Secret(key) : null;
}

export interface ReferredKeyOptions {
  /** The provider's. */
  readonly name: string;
  readonly reference: SecretReference;
  readonly keys: KeySource;
  /** The provider with that key. */
  readonly open: (key: Secret) => Promise<Provider>;
}

/**
 * A provider whose key is read for each try, so that a changed secret is used by the next one; tries of one moment share
 * a reading. Where the secrets are away the try fails as one at a vendor that is away does.
 */
export function withReferredKey({ name, reference, keys, open }: ReferredKeyOptions): Provider {
  let current: { readonly key: Secret; readonly provider: Promise<Provider> } | null = null;
  let reading: Promise<Secret> | null = null;

  async function read(): Promise<Secret> {
    const found = await keys(reference).catch(() => {
      throw new AttemptError("service_unavailable", `the key of provider ${name} cannot be read now`);
    });
    if (!(found instanceof Secret)) {
      throw new AttemptError("authentication", `provider ${name} has no api_key: ${found.missing}`);
    }
    const key = keyOfText(found.reveal());
    if (key !== null) return key;
    throw new AttemptError("authentication", `the api_key of provider ${name} holds characters that no key has`);
  }

  return {
    name,
    async attempt(attempt) {
      reading ??= read().finally(() => {
        reading = null;
      });
      const key = await reading;
      if (current === null || current.key.reveal() !== key.reveal()) current = { key, provider: open(key) };
      return (await current.provider).attempt(attempt);
    },
  };
}
