/** What a stored credential is read as when a registry is asked with it. */
import { expect, test } from "bun:test";
import { type Reference, readReference } from "../../../actors/manifest/references.ts";
import { registryLogin } from "../../../src/adapters/sandbox/registry-login.ts";
import { Secret } from "../../../src/lib/secret.ts";

const secret = readReference("secret:registries/one") as Reference;
const login = (text: string) => {
  try {
    const { username, password } = registryLogin("acme", secret, { value: new Secret(text) });
    return [username.reveal(), password.reveal()];
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

test("a login is name:password or a JSON object; anything else is none", () => {
  const none = "registry_credentials_invalid";
  for (const [text, expected] of [
    ["ann:pass", ["ann", "pass"]],
    ["ann:pa:ss\n", ["ann", "pa:ss"]],
    ['{"username": "ann", "password": "{x}"}', ["ann", "{x}"]],
    ["ghp_token", none],
    [":pass", none],
    ["ann:", none],
    ['{"username": "ann"}', none],
    ['{"username": "a:b", "password": "x"}', none],
    ['{"username": 1, "password": "x"}', none],
    ["{", none],
    ["", none],
  ] as const) {
    expect([text, login(text)]).toEqual([text, expected as string | string[]]);
  }
});

test("an image was given to the tenant with the credential, whose name does not count", () => {
  const value = new Secret("ann:pass");
  const byProvider = readReference("credential:ghcr/team") as Reference;
  expect(registryLogin("acme", secret, { value }).holder).toBe("acme secret:registries/one");
  expect(registryLogin("acme", byProvider, { value, credentialId: "id-1" }).holder).toBe("acme id-1");
  expect(registryLogin("beta", byProvider, { value, credentialId: "id-1" }).holder).toBe("beta id-1");
});
