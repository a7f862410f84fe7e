/** The schema that an answer is to have, told to the vendors that know of such. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startVendor, type Wire } from "../../harness/outside/vendor.ts";
import { aCall, failureOf } from "./fixture.ts";
import { modelsAt, tools } from "./vendor-fixture.ts";

const vendor = await startVendor();
const modelsOf = modelsAt(vendor);

beforeEach(() => vendor.reset());
afterAll(() => vendor.close());

describe("the schema of an answer", () => {
  const responseSchema = { type: "object", properties: { lanes: { type: "array", items: { type: "string" } } } };
  const call = (withTools: boolean) => aCall({ responseSchema, ...(withTools ? { tools } : {}) });
  const formatOf = (wire: Wire, index = -1) => {
    const body = vendor.requests.at(index)?.body as Record<string, Record<string, unknown>> | undefined;
    if (wire === "google") return body?.generationConfig?.responseSchema;
    return wire === "anthropic" ? body?.output_config?.format : body?.response_format;
  };

  test.each([
    ["openai", "openai", [], true, true],
    ["anthropic", "anthropic", [], true, true],
    ["google", "google", [], true, false],
    ["ollama", "openai", [], true, false],
    ["openai-compatible", "openai", [], false, false],
    ["openai-compatible", "openai", ["tools", "json_schema"], true, false],
  ] as const)("%s (%s, %j): alone %p, beside tools %p", async (type, wire, capabilities, alone, besideTools) => {
    const models = modelsOf(type, wire, 10_000, capabilities);
    for (const [withTools, isTold] of [
      [false, alone],
      [true, besideTools],
    ] as const) {
      vendor.push({ reply: { text: '{"lanes":[]}' } });
      expect((await models.generate(call(withTools))).content).toBe('{"lanes":[]}');
      const format = formatOf(wire);
      if (isTold) expect(JSON.stringify(format)).toContain('"lanes"');
      else expect(format).toBeUndefined();
      expect(JSON.stringify(format ?? {})).not.toContain('"strict":true');
    }
  });

  test.each(["openai", "anthropic", "google"] as const)(
    "%s: a model that refuses it is asked without, and is not asked with it again",
    async (wire) => {
      const models = modelsOf(wire, wire);
      vendor.push({ status: 400, message: "response format is not supported" });
      vendor.push({ reply: { text: "{}" } });
      expect(await models.generate(call(false))).toMatchObject({ content: "{}", attempts: 1 });
      expect([formatOf(wire, 0) !== undefined, formatOf(wire, 1) !== undefined]).toEqual([true, false]);
      vendor.push({ reply: { text: "{}" } });
      await models.generate(call(false));
      expect([vendor.requests.length, formatOf(wire)]).toEqual([3, undefined]);
      vendor.push({ reply: { text: "{}" } });
      await models.generate(aCall({ responseSchema: { ...responseSchema, title: "another" } }));
      expect(formatOf(wire)).toBeDefined();
    },
  );

  test("a call that is bad in itself is refused once more, and the format is not blamed", async () => {
    const models = modelsOf("openai", "openai");
    vendor.push({ status: 400, message: "too long" });
    vendor.push({ status: 400, message: "too long" });
    expect((await failureOf(models, call(false))).errorClass).toBe("invalid_input");
    vendor.push({ reply: { text: "{}" } });
    await models.generate(call(false));
    expect(formatOf("openai")).toBeDefined();
  });
});
