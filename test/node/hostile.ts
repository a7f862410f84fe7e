/** Manifests, schemas, YAML, templates, commands and runs that cost much, each small enough to be sent. */
export const MiB = 1024 * 1024;
export const filled = (unit: string, size: number) => unit.repeat(Math.floor(size / unit.length));
export const members = (count: number, of: (index: number) => unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, of(index)]));

const nested = (depth: number, around: (inner: object) => object, inner: object = {}): object =>
  Array.from({ length: depth }).reduce<object>((sum) => around(sum), inner);
export const inside = (schema: object) => ({ type: "object", ...schema });

export const schemas: readonly (readonly [string, object])[] = [
  [
    "250 properties behind 600 references",
    {
      $defs: { a: { properties: members(250, () => ({ type: "string" })) } },
      properties: members(600, () => ({ $ref: "#/$defs/a" })),
    },
  ],
  ["alternatives of which one holds", { oneOf: Array.from({ length: 1500 }, () => ({ type: "string" })) }],
  [
    "alternatives within alternatives",
    { allOf: Array.from({ length: 60 }, () => nested(24, (inner) => ({ oneOf: [inner, {}, {}] }))) },
  ],
  ["negations of negations", { allOf: Array.from({ length: 60 }, () => nested(50, (inner) => ({ not: inner }))) }],
  ["properties by patterns", { patternProperties: members(1500, () => ({})) }],
  [
    "many large patterns",
    { allOf: Array.from({ length: 700 }, (_, index) => ({ pattern: `((a{0,9}){0,9}){0,9}${index}` })) },
  ],
  ["Unicode classes", { allOf: Array.from({ length: 500 }, (_, index) => ({ pattern: `[^\\p{L}\\p{N}]${index}` })) }],
  [
    "unevaluated properties",
    {
      unevaluatedProperties: false,
      oneOf: Array.from({ length: 800 }, (_, index) => ({ properties: { [`p${index}`]: {} } })),
    },
  ],
  ["a small one of 3 KiB", { oneOf: Array.from({ length: 170 }, () => ({ type: "string" })) }],
];

export const yamls: readonly (readonly [string, string])[] = [
  ["a list of numbers", `a:\n${filled("- 1\n", MiB - 100)}`],
  ["a flow of braces", `[${filled("{},", MiB - 100)}]`],
  ["keys", Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join("\n")],
  ["aliases", `a: &a [${filled("1,", 10_000)}]\nb: [${filled("*a,", 300)}]`],
  ["one long folded text", `a: >\n${filled("  x\n", MiB - 100)}`],
  ["quotes and escapes", `a: "${filled("\\u0041", MiB - 100)}"`],
  ["comments", filled("#\n", MiB - 100)],
  ["depth", "[".repeat(MiB - 100)],
  ["anchors without end", filled("&a ", MiB - 100)],
  ["tags", filled("!!str ", MiB - 100)],
  ["spaces", `a:${" ".repeat(MiB - 100)}b`],
  ["documents", filled("---\n", MiB - 100)],
];

/** Of about so many characters. */
export const templates: readonly (readonly [string, (size: number) => string])[] = [
  ["tags", (size) => filled("{{a}}", size)],
  ["blocks", (size) => `${"{{#if a}}".repeat(30)}${filled("{{a.b.c}}", size - 600)}${"{{/if}}".repeat(30)}`],
  ["an open tag", (size) => `{{${filled("a.", size)}`],
  ["braces", (size) => "{".repeat(size)],
  ["helper calls", (size) => filled("{{lookup (lookup a 'b') 'c'}}", size)],
  ["parentheses", (size) => `{{a ${"(".repeat(size / 2)}}}`],
  ["comments", (size) => filled("{{!-- --}}", size)],
  ["quotes", (size) => `{{a "${filled('\\"', size)}"}}`],
  ["text and braces", (size) => `${filled("{ x ", size)}{{a}}`],
];
export const longest = 90_000;
/** As many tags as one template may have. */
export const mostTags = 8_000;

export const commands: readonly (readonly [string, string])[] = [
  ["quotes", `echo ${filled("'a' ", 60_000)}`],
  ["substitutions", `echo ${"$(".repeat(10_000)}`],
  ["blocks in a command", `echo ${"{{#if a}}x{{else}}y{{/if}} ".repeat(300)}`],
  ["here documents", filled("cat <<A\nA\n", 60_000)],
  ["backslashes", `echo ${"\\".repeat(60_000)}`],
  ["separators", filled("true;", 60_000)],
];

export const agent = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "svc.dev/v1",
  kind: "Agent",
  metadata: { name: `a${Bun.randomUUIDv7()}`, version: "1.0.0", ...metadata },
  spec: { runtime: { language: "python", version: "3.12" }, task: { instruction: "Say hello." }, ...spec },
});
export const state = (more: object = {}) => ({ kind: "System", command: "true", transitions: [], ...more });
export const workflow = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name: `w${Bun.randomUUIDv7()}`, version: "1.0.0", ...metadata },
  spec: { initial_state: "ONE", states: { ONE: state() }, ...spec },
});

const largeInput = { list: Array.from({ length: 60_000 }, (_, index) => index), text: "x".repeat(300_000) };
export const deadEnd = { kind: "System", command: "false", transitions: [] };
/** Each run ends by itself: its state's result leads nowhere. */
export const runs: readonly (readonly [string, object, object])[] = [
  [
    "templates that render much",
    {
      states: {
        ONE: { ...deadEnd, env: members(20, () => "{{#each input.list}}{{this}},{{/each}}") },
      },
    },
    largeInput,
  ],
  [
    "expressions over a large blackboard",
    {
      states: {
        ONE: {
          ...deadEnd,
          transitions: Array.from({ length: 60 }, (_, index) => ({
            condition: "custom",
            expression: `(eq (json input) "${index}")`,
            target: "ONE",
          })),
        },
      },
    },
    largeInput,
  ],
  [
    "a command of many values",
    { states: { ONE: { ...deadEnd, command: `${filled("true;", 40_000)}${filled("echo {{input.a}};", 9_000)}` } } },
    { a: "x" },
  ],
];
