/** What of a request's address may be written down. */
import { expect, test } from "bun:test";
import { recordedUrl } from "../../src/http/operations/log.ts";

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";

test.each([
  ["/v1/agents?limit=5", "/v1/agents?limit=5"],
  ["", "/"],
  [`/v1/executions/1/stream?token=${jwt}&from=3`, "/v1/executions/1/stream?token=REDACTED&from=3"],
  ["/callback?state=a&code=b", "/callback?state=REDACTED&code=REDACTED"],
  [`/x/${jwt}/v1/dispatch-gateway`, "/x/REDACTED/v1/dispatch-gateway"],
  ["/x/anything", "/x/REDACTED"],
  ["/v1/approval-links/abc-DEF_1?x=1", "/v1/approval-links/REDACTED?x=1"],
  ["/v1/colony/invitations/abc-DEF_1/accept?x=1", "/v1/colony/invitations/REDACTED/accept?x=1"],
  ["/v1/colony/invitations/accept", "/v1/colony/invitations/accept"],
  [
    "/v1/colony/invitations/0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11?a=1",
    "/v1/colony/invitations/0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11?a=1",
  ],
  [`/v1/agents/${jwt}`, "/v1/agents/REDACTED"],
  [`//x/${jwt}/v1`, "//x/REDACTED/v1"],
  [`/v1/agents/svc_${"aB3d".repeat(10)}?q=svc_${"1".repeat(40)}`, "/v1/agents/svc_REDACTED?q=svc_REDACTED"],
  ["/v1/agents/lookup/svc_of_another_kind", "/v1/agents/lookup/svc_of_another_kind"],
  ["/v1/agents/lookup/eyJ-is-a-name", "/v1/agents/lookup/eyJ-is-a-name"],
])("%s", (path, shown) => {
  expect(recordedUrl(`http://localhost:8080${path}`)).toBe(shown);
});

test("the end of a long one is left out", () => {
  const recorded = recordedUrl(`http://localhost:8080/${"a".repeat(30_000)}?token=${jwt}`);
  expect(recorded.length).toBeLessThan(1100);
});
