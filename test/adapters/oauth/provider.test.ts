/** OAuth providers as the configuration names them (docs/reference/credentials.md). */
import { expect, test } from "bun:test";
import { readOAuthProviders } from "../../../src/adapters/oauth/port.ts";

const good = {
  name: "crm",
  authorization_url: "https://crm.test/authorize",
  token_url: "https://crm.test/token",
  client_id: "svc",
  client_secret: "env:CRM_SECRET",
};
const environment = (name: string) => (name === "CRM_SECRET" ? "hush" : undefined);

test("what is not written has its default, and the secret is looked up", () => {
  const { providers, problems } = readOAuthProviders([good], environment);
  expect(problems).toEqual([]);
  const provider = providers.get("crm");
  expect(provider).toMatchObject({
    issuer: "https://crm.test",
    deviceUrl: null,
    revocationUrl: null,
    clientAuth: "post",
    scopes: [],
    redirectUris: [],
  });
  expect(provider?.clientSecret?.reveal()).toBe("hush");
  expect(JSON.stringify(provider)).not.toContain("hush");
});

test.each<[unknown, string]>([
  [{ ...good, token_url: "http://crm.test/token" }, "oauth.providers[0].token_url: must be an https URL"],
  [{ ...good, redirect_uris: ["http://app.test/cb"] }, "oauth.providers[0].redirect_uris: must be an https URL"],
  [{ ...good, client_secret: "env:OTHER" }, "oauth.providers[0].client_secret: the variable env:OTHER is not set"],
  [{ ...good, name: "CRM" }, "oauth.providers[0].name: "],
  [{ ...good, colour: "red" }, "oauth.providers[0].colour: Unexpected property"],
  [{ name: "crm" }, "oauth.providers[0].authorization_url: Expected required property"],
  ["crm", "oauth.providers[0]: Expected object"],
])("%j is refused", (entry, problem) => {
  expect(readOAuthProviders([entry], environment).problems[0]).toStartWith(problem);
});

test("a name that stands there twice is refused", () => {
  expect(readOAuthProviders([good, good], environment).problems).toEqual([
    "oauth.providers[1].name: crm stands there twice",
  ]);
});
