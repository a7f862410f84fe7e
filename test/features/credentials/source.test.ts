/** What references to credentials mean for an execution, over real stores (docs/reference/credentials.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CredentialReference, readReference } from "../../../actors/manifest/references.ts";
import { readOAuthProviders } from "../../../src/adapters/oauth/port.ts";
import { createAudit } from "../../../src/features/audit/port.ts";
import { createRefreshing } from "../../../src/features/credentials/oauth/refresh.ts";
import { credentialRecords, type NewCredential } from "../../../src/features/credentials/records.ts";
import { credentialSource } from "../../../src/features/credentials/source.ts";
import { encryptedTokens, encryptedValue } from "../../../src/features/credentials/values.ts";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import type { ReferenceSource, ReferenceUse } from "../../../src/features/references/port.ts";
import { OAuthServer } from "../../harness/outside/oauth-server.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

const newId = () => Bun.randomUUIDv7();
const encryption = createEncryption({
  current: masterKeyOf(Buffer.alloc(32, 3).toString("base64")),
  previous: null,
  incidents: { report() {} },
});
const ann = { realm: "tenant-acme", userId: "ann" };
const bob = { realm: "tenant-acme", userId: "bob" };
const agent = newId();
const use: ReferenceUse = {
  tenant: "acme",
  definition: { kind: "agent", id: agent, tenant: "acme", deployed: { ...ann, at: new Date(0) } },
  initiator: ann,
  workflow: null,
  executionId: newId(),
};

let stores: TestStores;
let records: ReturnType<typeof credentialRecords>;
let source: ReferenceSource;
let provider: OAuthServer;
beforeAll(async () => {
  stores = await freshStores();
  provider = new OAuthServer();
  const { sql } = stores;
  records = credentialRecords(sql);
  const shared = { sql, records, encryption, audit: createAudit({ now: Date.now, newId }), now: Date.now };
  const { providers } = readOAuthProviders([provider.settings("oauth")], null);
  const refreshing = createRefreshing({ ...shared, providers, incidents: { report() {} }, newId, warn() {} });
  source = credentialSource({ ...shared, refreshing, definitions: { registeredByOthers: async () => null } });
});
afterAll(async () => {
  provider?.stop();
  await stores?.dispose();
});

const reference = (text: string) => readReference(text) as CredentialReference;
async function stored(change: Partial<NewCredential> & { readonly value?: string } = {}): Promise<string> {
  const { value = "the-value", ...facts } = change;
  const id = newId();
  const credential: NewCredential = {
    id,
    tenant: "acme",
    provider: "crm",
    credential_type: "secret",
    label: null,
    scope: "personal",
    status: "active",
    realm: ann.realm,
    user_id: ann.userId,
    metadata: {},
    oauthScopes: [],
    ciphertext: encryptedValue(encryption, { tenant: "acme", id, version: 1 }, value),
    expiresAt: null,
    ...facts,
  };
  await stores.sql.begin((tx) => records.insert(tx, credential));
  return id;
}
const granted = (id: string, type = "agent", value: string = agent) => stores.sql`
  insert into credential_grants (id, tenant, credential_id, target_type, target_value, created_by)
  values (${newId()}, 'acme', ${id}, ${type}, ${value}, '{}')`;
async function meaning(text: string, of: ReferenceUse = use): Promise<string> {
  const found = (await source.resolve(of, [reference(text)])).get(reference(text).text);
  if (found === undefined) throw new Error("nothing was told");
  return "value" in found ? found.value.reveal() : found.code;
}

test("by id: active, visible to the initiator, and granted", async () => {
  const id = await stored();
  expect(await meaning(`credential:${id}`)).toBe("credential_not_granted");
  await granted(id);
  expect(await meaning(`credential:${id}`)).toBe("the-value");
  expect(await meaning(`credential://${id}`)).toBe("the-value");
  expect(await meaning(`credential:${id}`, { ...use, initiator: bob })).toBe("credential_not_found");
  expect(await meaning(`credential:${id}`, { ...use, initiator: null })).toBe("credential_not_found");
  expect(await meaning(`credential:${id}`, { ...use, tenant: "other" })).toBe("credential_not_found");
  await stores.sql`update credential_grants set expires_at = now() where credential_id = ${id}`;
  expect(await meaning(`credential:${id}`)).toBe("credential_not_granted");
});

test("what expired or was revoked is not there", async () => {
  const id = await stored({ expiresAt: new Date(Date.now() - 1000) });
  await granted(id);
  expect(await meaning(`credential:${id}`)).toBe("credential_not_found");
  const revoked = await stored();
  await granted(revoked);
  await stores.sql.begin((tx) => records.revoke(tx, { tenant: "acme", id: revoked }));
  expect(await meaning(`credential:${revoked}`)).toBe("credential_not_found");
});

test("by provider or label: the initiator's own, else the tenant's oldest granted", async () => {
  const tenant = { provider: "mail", scope: "tenant", realm: bob.realm, user_id: bob.userId } as const;
  await stored({ ...tenant, value: "ungranted" });
  await granted(await stored({ ...tenant, value: "oldest" }), "all_agents", "");
  await granted(await stored({ ...tenant, value: "younger", label: "in/out" }), "all_agents", "");
  expect(await meaning("credential:mail")).toBe("oldest");
  expect(await meaning("credential:mail/in/out")).toBe("younger");
  expect(await meaning("credential:mail/none")).toBe("credential_not_found");
  await granted(await stored({ provider: "mail", value: "own" }));
  expect(await meaning("credential:mail")).toBe("own");
  expect(await meaning("credential:mail", { ...use, initiator: bob })).toBe("oldest");
  expect(await meaning("credential:mail", { ...use, initiator: null })).toBe("oldest");
});

test("the personal one of a removed member is served no longer", async () => {
  const user = { realm: "tenant-acme", userId: "gone" };
  const id = await stored({ realm: user.realm, user_id: user.userId });
  await granted(id);
  const of: ReferenceUse = {
    ...use,
    initiator: user,
    definition: { ...use.definition, deployed: { ...user, at: new Date(0) } },
  };
  expect(await meaning(`credential:${id}`, of)).toBe("the-value");
  await stores.sql`insert into tenants (slug, kind, display_name) values ('acme', 'enterprise', 'acme') on conflict do nothing`;
  await stores.sql`
    insert into tenant_members (tenant, realm, user_id, role, status)
    values ('acme', ${user.realm}, ${user.userId}, 'member', 'revoked')`;
  expect(await meaning(`credential:${id}`, of)).toBe("credential_not_found");
});

test("an access token that has ended is refreshed before it is handed over", async () => {
  const tokens = await signedIn();
  const id = newId();
  const ciphertext = encryptedTokens(encryption, { tenant: "acme", id, version: 1 }, tokens);
  const oauth = { id, provider: "oauth", credential_type: "oauth2", ciphertext } as const;
  await stored(oauth);
  await granted(id);
  expect(await meaning(`credential:${id}`)).toBe(tokens.accessToken);
  await stores.sql`update credentials set token_expires_at = now() - interval '1 s' where id = ${id}`;
  const fresh = await meaning(`credential:${id}`);
  expect([fresh !== tokens.accessToken, provider.given.includes(fresh)]).toEqual([true, true]);
  await stores.sql`update credentials set token_expires_at = now() - interval '1 s' where id = ${id}`;
  provider.refuses = "down";
  await expect(meaning(`credential:${id}`)).rejects.toMatchObject({ code: "service_unavailable" });
  provider.refuses = null;
});

/** Tokens that the provider knows. */
async function signedIn() {
  provider.device = "approved";
  const form = {
    grant_type: "device",
    device_code: "provider-device-code",
    client_id: "svc",
    client_secret: "client-secret",
  };
  const answer = await fetch(`${provider.url}/token`, { method: "POST", body: new URLSearchParams(form) });
  const { access_token, refresh_token } = (await answer.json()) as Record<string, string>;
  return { accessToken: access_token ?? "", refreshToken: refresh_token ?? "" };
}

test("its use is on record once per execution and reference, and noted", async () => {
  const id = await stored({ provider: "noted" });
  await granted(id);
  const of = { ...use, executionId: newId() };
  const references = [reference("credential:noted"), reference(`credential:${id}`)];
  for (let round = 0; round < 3; round++) await source.used(of, references);
  await source.used({ ...of, executionId: newId() }, references.slice(0, 1));
  const told = await stores.sql`
    select action, details ->> 'execution_id' = ${of.executionId} as here from audit_entries
    where target_id = ${id} order by here desc`;
  expect(told.map(({ action, here }) => [action, here])).toEqual([
    ["credential.used", true],
    ["credential.used", true],
    ["credential.used", false],
  ]);
  const [row] = await stores.sql`select last_used_at is not null as noted from credentials where id = ${id}`;
  expect(row?.noted).toBe(true);
});
