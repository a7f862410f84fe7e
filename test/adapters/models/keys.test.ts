/** Keys of providers that stand in secrets (docs/reference/gateway.md). */
import { afterAll, beforeEach, expect, test } from "bun:test";
import type { KeySource } from "../../../src/adapters/models/keys.ts";
import { createModels } from "../../../src/adapters/models/models.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { startVendor } from "../../harness/outside/vendor.ts";
import { aCall, configOf, failureOf, quickTiming } from "./fixture.ts";

const vendor = await startVendor();
afterAll(() => vendor.close());
beforeEach(() => {
  vendor.reset();
  vendor.always({ reply: { text: "from the vendor" } });
});

/** A vendor whose key stands in a secret, before a scripted provider. */
function modelsWith(keys: KeySource) {
  const config = configOf({
    llm_providers: [
      {
        name: "keyed",
        type: "openai",
        endpoint: vendor.endpoint("openai"),
        api_key: "secret://models/openai#key",
        models: [{ alias: "default", model: "m" }],
      },
      {
        name: "spare",
        type: "scripted",
        models: [{ alias: "default", model: "s" }],
        rules: [{ reply: { content: "from the spare" } }],
      },
    ],
    llm_selection: { default_provider: "keyed", fallback_provider: "spare" },
  });
  return createModels({ config, keys, timing: quickTiming() });
}
const sent = () => vendor.requests.map(({ headers }) => headers.authorization);

test("a key is read when its provider is asked; the next call uses a changed one", async () => {
  let key = "sk-first-1234567890";
  const asked: string[] = [];
  const models = modelsWith(async ({ text, path, field }) => {
    asked.push(`${text} ${path} ${field}`);
    return new Secret(` ${key}\n`);
  });
  expect(asked).toEqual([]);
  expect(await models.generate(aCall())).toMatchObject({ provider: "keyed", content: "from the vendor" });
  key = "sk-second-1234567890";
  await Promise.all([models.generate(aCall()), models.generate(aCall())]);
  expect(sent()).toEqual(["sk-first-1234567890", key, key].map((one) => `Bearer ${one}`));
  // Calls of one moment share a reading.
  expect(asked).toEqual(Array(2).fill("secret:models/openai#key models/openai key"));
});

test("secrets that are away are an outage: tried again, then another answers", async () => {
  let isAway = true;
  const models = modelsWith(async () => {
    if (isAway) throw new Error("the vault at 10.0.0.1 says sk-leaked-1234567890");
    return new Secret("sk-back-1234567890");
  });
  const reply = await models.generate(aCall());
  expect(reply).toMatchObject({
    provider: "spare",
    attempts: 5,
    insteadOf: { provider: "keyed", errorClass: "service_unavailable" },
  });
  expect(JSON.stringify(reply)).not.toMatch(/leaked|10\.0\.0\.1/);
  expect(sent()).toEqual([]);
  isAway = false;
  expect((await models.generate(aCall())).provider).toBe("keyed");
});

test("a secret that is missing, or holds no key, is told as a provider without a key", async () => {
  const fault = await failureOf(
    modelsWith(async () => ({ missing: "there is no such secret" })),
    aCall(),
  );
  expect([fault.errorClass, fault.message]).toEqual([
    "authentication",
    "provider keyed has no api_key: there is no such secret",
  ]);
  const odd = await failureOf(
    modelsWith(async () => new Secret("sk-odd\r\nX: y")),
    aCall(),
  );
  expect([odd.errorClass, odd.message.includes("sk-odd")]).toEqual(["authentication", false]);
  expect(sent()).toEqual([]);
});

test("a vendor that quotes the key back does not have it told", async () => {
  const key = "a-key-of-no-known-form";
  vendor.always({ status: 401, message: `Incorrect API key provided: ${key}` });
  const fault = await failureOf(
    modelsWith(async () => new Secret(key)),
    aCall(),
  );
  expect([fault.errorClass, fault.message.includes(key)]).toEqual(["authentication", false]);
});
