/** Where a provider may send people back to (docs/reference/credentials.md). */
import { expect, test } from "bun:test";
import { isRedirectAllowed, isSafeUrl } from "../../../actors/credential/redirect.ts";

const configured = ["https://app.test/cb", "http://127.0.0.1/done", "http://[::1]:9/done"];

test.each([
  ["https://app.test/cb", true],
  ["http://127.0.0.1:51234/done", true],
  ["http://[::1]:51234/done", true],
  ["https://app.test/cb?x=1", false],
  ["https://app.test/cb/", false],
  ["https://app.test:8443/cb", false],
  ["http://app.test/cb", false],
  ["http://localhost:51234/done", false],
  ["http://127.0.0.1:51234/done/../other", false],
  ["http://127.0.0.1:51234@evil.test/done", false],
  ["http://127.0.0.1:51234/done#x", false],
  ["https://127.0.0.1:51234/done", false],
  ["javascript:alert(1)", false],
  ["", false],
])("redirecting to %s is allowed: %p", (asked, allowed) => {
  expect(isRedirectAllowed(asked, configured)).toBe(allowed);
});

test.each([
  ["https://id.test/token", true],
  ["http://127.0.0.1:9/token", true],
  ["http://localhost:9/token", true],
  ["http://id.test/token", false],
  ["http://127.0.0.1.evil.test/token", false],
  ["https://user:pass@id.test/token", false],
  ["ftp://id.test", false],
])("a provider at %s can be configured: %p", (url, safe) => {
  expect(isSafeUrl(url)).toBe(safe);
});
