/** A node in development signs in by itself: its issuer knows a client and people whose password is no secret. */
import { isLoopback } from "./address.ts";
import type { Developer } from "./tokens.ts";

const client = { client_id: "svc-dev", client_secret: "svc-dev-secret" };
const lifetimeSeconds = 3_600;

/**
 * A token of the development issuer that this node serves.
 * @param person null: the operator that every development node knows
 * @returns null where the service is on another machine, or has no such issuer
 * @throws what `reach` throws where nothing answers
 */
export async function developmentToken(
  url: string,
  person: Developer | null,
  reach: (request: Request) => Promise<Response>,
): Promise<{ readonly token: string; readonly lifetimeMs: number } | null> {
  if (!isLoopback(new URL(url).hostname)) return null;
  const grant =
    person === null
      ? { grant_type: "client_credentials", ...client }
      : { grant_type: "password", username: person.person, password: person.password };
  const realm = person?.realm ?? "svc-system";
  const body = new URLSearchParams({ ...grant, expires_in: String(lifetimeSeconds) });
  const path = `/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`;
  const response = await reach(new Request(url + path, { method: "POST", body }));
  if (!response.ok) {
    await response.body?.cancel();
    return null;
  }
  const { access_token, expires_in } = membersOf(await response.json().catch(() => null));
  if (typeof access_token !== "string") return null;
  return { token: access_token, lifetimeMs: (typeof expires_in === "number" ? expires_in : lifetimeSeconds) * 1_000 };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};
