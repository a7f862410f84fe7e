/** What a schema of a tenant may come to (docs/reference/security.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { compileSchema, schemaFault } from "../../../../actors/manifest/json-schema/json-schema.ts";
import { expandedCharacters } from "../../../../actors/manifest/json-schema/size.ts";
import { cpuTimeOf } from "../../../harness/cpu-time.ts";

const members = (count: number, of: (index: number) => Json): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, of(index)]));
const strings = members(250, () => ({ type: "string" }));

/** The same place, spelt differently each time. */
const spelling = (index: number) =>
  `#/%24defs/${[..."abcdefghij"].map((letter, at) => ((index >> at) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter)).join("")}`;

describe("schemas of tenants", () => {
  test("references to one place are compiled once, however many there are", () => {
    const schema: Json = {
      $defs: { all: { properties: strings } },
      properties: members(600, () => ({ $ref: "#/$defs/all" })),
    };
    expect(JSON.stringify(schema).length).toBeLessThan(30_000);
    let validate: ReturnType<typeof compileSchema> | null = null;
    // Put in the references' place, the definition alone would come to five megabytes and twelve seconds.
    expect(cpuTimeOf(() => (validate = compileSchema(schema)))).toBeLessThan(3_000);
    expect(validate as unknown).toBeInstanceOf(Function);
  });

  test.each<[string, Json]>([
    [
      "one place under many names",
      {
        $defs: { abcdefghij: { properties: members(150, () => ({ type: "string" })) } },
        properties: members(400, (index) => ({ $ref: spelling(index) })),
      },
    ],
    [
      "places within each other",
      {
        properties: {
          ...(Array.from({ length: 60 }).reduce<object>((inner) => ({ a: { properties: inner } }), {
            wide: { properties: members(600, () => ({})) },
          }) as { readonly [key: string]: Json }),
        },
        allOf: Array.from({ length: 60 }, (_, depth) => ({ $ref: `#${"/properties/a".repeat(depth + 1)}` })),
      },
    ],
    [
      "parts with an id of their own",
      {
        $defs: { one: { $id: "urn:one", properties: strings } },
        properties: members(100, () => ({ $ref: "#/$defs/one" })),
      },
    ],
    [
      "the whole schema again and again",
      {
        $dynamicAnchor: "a",
        properties: members(100, (index) => ({ $dynamicRef: `#a${index}` })),
        allOf: [strings, strings],
      },
    ],
  ])("a schema that expands to more than 256 KiB is refused: %s", (_, schema) => {
    expect(expandedCharacters(schema)).toBeGreaterThan(256 * 1024);
    expect(
      cpuTimeOf(() => expect(schemaFault(schema)).toMatch(/256 KiB with what its references lead to/)),
    ).toBeLessThan(500);
  });

  test.each<[Json, RegExp]>([
    [{ pattern: "(?=a)b" }, /the pattern "\(\?=a\)b" cannot be used: lookahead/],
    [{ patternProperties: { "(a)\\1": {} } }, /backreferences/],
    [{ properties: { a: { pattern: "a{1001}" } } }, /1000 times/],
  ])("%j is refused", (schema, message) => {
    expect(schemaFault(schema)).toMatch(message);
  });

  test("patterns are matched as ECMAScript with the flag u does", () => {
    const validate = compileSchema({ properties: { a: { pattern: "^\\p{L}{2}$" }, b: { pattern: "^.$" } } });
    expect(validate({ a: "éß", b: "😀" })).toBe(true);
    expect(validate({ a: "e1" })).toBe(false);
    expect(validate({ b: "😀😀" })).toBe(false);
  });
});
