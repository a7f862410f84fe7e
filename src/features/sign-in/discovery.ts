/**
 * Whether a provider elsewhere offers the device flow, as its discovery document says. Strangers may ask, so that a
 * provider is asked at most once in a while, by one request at a time, and no answer waits for it long.
 */
import { LRUCache } from "lru-cache";
import { isObject } from "../../../actors/kernel/json.ts";
import { readJson } from "../../lib/answer-body.ts";

/** Providers remembered; each is a line. */
const maxRemembered = 1000;
/** How long what a provider said counts, and how long it is left alone when it said nothing, ms. */
const freshMs = 300_000;
const pauseMs = 30_000;
/** For the whole document. */
const timeoutMs = 2500;
const bodyLimit = 256 * 1024;

export interface Discovery {
  /** False as well while the provider cannot be asked. Never rejects. */
  offersDevice(issuer: string): Promise<boolean>;
}

export function createDiscovery(now: () => number): Discovery {
  const remembered = new LRUCache<string, { readonly answer: Promise<boolean | null>; until: number }>({
    max: maxRemembered,
  });

  function ask(issuer: string): Promise<boolean | null> {
    const entry = { answer: read(issuer).catch(() => null), until: Number.POSITIVE_INFINITY };
    remembered.set(issuer, entry);
    void entry.answer.then((told) => {
      entry.until = now() + (told === null ? pauseMs : freshMs);
    });
    return entry.answer;
  }

  return {
    async offersDevice(issuer) {
      const known = remembered.get(issuer);
      const answer = known !== undefined && known.until > now() ? known.answer : ask(issuer);
      return (await answer) ?? false;
    },
  };
}

/** @throws when the document cannot be had */
async function read(issuer: string): Promise<boolean> {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "error",
    headers: { accept: "application/json", "accept-encoding": "identity" },
    decompress: false,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`The provider answered ${response.status}`);
  }
  const document = await readJson(response, bodyLimit);
  return isObject(document) && typeof document.device_authorization_endpoint === "string";
}
