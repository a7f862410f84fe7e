/** What a registry is asked with, out of the value of a stored credential or a secret. */
import type { Reference } from "../../../actors/manifest/references.ts";
import { Secret } from "../../lib/secret.ts";
import { LaunchFailure, type RegistryLogin } from "./instance.ts";

/**
 * @param found what the reference means now for this tenant
 * @throws LaunchFailure `registry_credentials_invalid` for a value that holds no name and password
 */
export function registryLogin(
  tenant: string,
  reference: Reference,
  found: { readonly value: Secret; readonly credentialId?: string } | undefined,
): RegistryLogin {
  const login = found === undefined ? null : readLogin(found.value);
  if (login === null) {
    throw new LaunchFailure(
      "registry_credentials_invalid",
      'A credential for a registry is name:password, or {"username": …, "password": …}',
    );
  }
  // A provider's name means another credential for each person: what was given is remembered for the one that was used.
  return { holder: `${tenant} ${found?.credentialId ?? reference.text}`, ...login };
}

/** `name:password`, or JSON with `username` and `password`; null for anything else. */
function readLogin(value: Secret): Pick<RegistryLogin, "username" | "password"> | null {
  const text = value.reveal().trim();
  const [username, password] = text.startsWith("{") ? jsonLogin(text) : pairLogin(text);
  if (typeof username !== "string" || typeof password !== "string") return null;
  if (username === "" || password === "" || username.includes(":")) return null;
  return { username: new Secret(username), password: new Secret(password) };
}

function pairLogin(text: string): readonly unknown[] {
  const colon = text.indexOf(":");
  return colon < 0 ? [] : [text.slice(0, colon), text.slice(colon + 1)];
}

function jsonLogin(text: string): readonly unknown[] {
  try {
    const { username, password } = JSON.parse(text) as { username?: unknown; password?: unknown };
    return [username, password];
  } catch {
    return [];
  }
}
