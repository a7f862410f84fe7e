/** Ends a sign-in where it was given. */
import { None, processRevocationResponse, revocationRequest } from "oauth4webapi";
import { discovered, transport } from "./refresh.ts";
import type { SignedIn } from "./tokens.ts";

/** @returns whether the issuer took it; one that has no such endpoint did not */
export async function revoked({ issuer, client_id, refresh_token, access_token }: SignedIn): Promise<boolean> {
  try {
    const server = await discovered(issuer);
    const request = revocationRequest(server, { client_id }, None(), refresh_token ?? access_token, transport(issuer));
    await processRevocationResponse(await request);
    return true;
  } catch {
    return false;
  }
}
