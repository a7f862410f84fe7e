/** What a stored credential is read as when a registry is asked with it. */
import { expect, test } from "bun:test";
import { readLogin } from "../../../../src/features/workflows/runs/commands/registry-logins.ts";
import { Secret } from "../../../../src/lib/secret.ts";

test("a login is name:password or a JSON object; anything else is none", () => {
  for (const [text, expected] of [
    ["ann:pass", ["ann", "pass"]],
    ["ann:pa:ss\n", ["ann", "pa:ss"]],
    ['{"username": "ann", "password": "{x}"}', ["ann", "{x}"]],
    ["ghp_token", null],
    [":pass", null],
    ["ann:", null],
    ['{"username": "ann"}', null],
    ['{"username": "a:b", "password": "x"}', null],
    ['{"username": 1, "password": "x"}', null],
    ["{", null],
    ["", null],
  ] as const) {
    const login = readLogin(new Secret(text));
    expect([text, login && [login.username.reveal(), login.password.reveal()]]).toEqual([
      text,
      expected as [string, string] | null,
    ]);
  }
});
