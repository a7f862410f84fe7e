/** Schemas as a form shows them best: a choice between fixed values is one field, however it is written. */

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Deeper parts stay as they are. */
const deepest = 24;

/** `anyOf` or `oneOf` of nothing but `const` becomes `enum`; what describes it stays. */
export function withChoices(schema: unknown, level = 0): unknown {
  if (level > deepest) return schema;
  if (Array.isArray(schema)) return schema.map((part) => withChoices(part, level + 1));
  if (!isObject(schema)) return schema;
  const values = fixedValues(schema.anyOf) ?? fixedValues(schema.oneOf);
  if (values === null)
    return Object.fromEntries(
      Object.entries(schema).map(([name, part]) => [name, isData(name) ? part : withChoices(part, level + 1)]),
    );
  const { anyOf: _, oneOf: __, ...rest } = schema;
  const types = [...new Set(values.map((value) => typeof value))];
  return { ...rest, ...(types.length === 1 ? { type: types[0] } : {}), enum: values };
}

/** Members that hold values, and no schemas. */
const isData = (name: string): boolean => ["default", "examples", "enum", "const"].includes(name);

/** @returns null: it is no choice between fixed texts, numbers or truth values */
function fixedValues(forms: unknown): readonly unknown[] | null {
  if (!Array.isArray(forms) || forms.length === 0) return null;
  const isFixed = (form: unknown) => isObject(form) && ["string", "number", "boolean"].includes(typeof form.const);
  return forms.every(isFixed) ? forms.map((form: Schema) => form.const) : null;
}
