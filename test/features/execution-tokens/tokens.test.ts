/** Tokens of instances: how long they live, and by which clock. */
import { expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { Problem } from "../../../actors/kernel/problem.ts";
import { createGatewayKeys } from "../../../src/features/execution-tokens/keys.ts";
import { createExecutionTokens } from "../../../src/features/execution-tokens/tokens.ts";
import { freshStores } from "../../harness/stores.ts";

const claims = { executionId: "e", agentId: "a", tenant: "acme", instanceId: "i", livesSeconds: 626_400 };

test("a token lives by the database's clock, and is not judged without it", async () => {
  const stores = await freshStores();
  let at = 1_700_000_000_900;
  let isKnown = true;
  const now = () => {
    if (isKnown) return at;
    throw new Problem("service_unavailable", "no time");
  };
  const keys = createGatewayKeys(stores.sql);
  const token = await createExecutionTokens(keys, now).mint(claims);
  expect(decodeJwt(token)).toMatchObject({ sub: "a", exec_id: "e", tenant_id: "acme", inst: "i", aud: "svc-internal" });
  const { iat, exp } = decodeJwt(token);
  expect(iat).toBe(1_700_000_000);
  expect(exp).toBe(1_700_626_400);
  // Another node, which has not seen the token.
  const others = createExecutionTokens(keys, now);
  at = 1_700_626_399_999;
  expect(await others.verify(token)).toEqual({ executionId: "e", tenant: "acme", instanceId: "i" });
  isKnown = false;
  expect(others.verify(token)).rejects.toMatchObject({ code: "service_unavailable" });
  isKnown = true;
  at = 1_700_626_400_000;
  expect(others.verify(token)).rejects.toMatchObject({ code: "invalid_token" });
  await stores.dispose();
});
