/** A node with two providers of consents on loopback, and what two nodes would do by the clock, to be done at once. */
import { readOAuthProviders } from "../../../src/adapters/oauth/port.ts";
import { createAudit } from "../../../src/features/audit/port.ts";
import { attemptRecords } from "../../../src/features/credentials/oauth/attempts.ts";
import { createRefreshing } from "../../../src/features/credentials/oauth/refresh.ts";
import { credentialRecords } from "../../../src/features/credentials/records.ts";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import type { Incident } from "../../../src/features/incidents/service.ts";
import type { OAuthServer } from "../../harness/outside/oauth-server.ts";
import { CredentialFixture } from "./fixture.ts";

/** @param reported takes what the two nodes report */
export async function openOAuth(provider: OAuthServer, reported: Incident[]) {
  const providers = [
    provider.settings("crm", {
      issuer: "https://crm.test",
      redirect_uris: ["http://127.0.0.1/done", "https://app.test/cb"],
    }),
    provider.settings("plain", { device_url: undefined }),
  ];
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = { SVC_LOG_LEVEL: "info", SVC_MASTER_KEY: key, SVC_OAUTH_PROVIDERS: JSON.stringify(providers) };
  const at = await CredentialFixture.open(env);
  const { sql } = at;
  const incidents = { report: (incident: Incident) => void reported.push(incident) };
  const encryption = createEncryption({ current: masterKeyOf(key), previous: null, incidents });
  const node = () =>
    createRefreshing({
      sql,
      records: credentialRecords(sql),
      encryption,
      audit: createAudit({ now: Date.now, newId: () => Bun.randomUUIDv7() }),
      providers: readOAuthProviders(providers, null).providers,
      incidents,
      now: Date.now,
      newId: () => Bun.randomUUIDv7(),
      warn: () => {},
    });
  return { at, nodes: [node(), node()], attempts: attemptRecords(sql, encryption) };
}
