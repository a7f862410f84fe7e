/** Checks values against JSON Schemas without compiling them: the page's policy allows no code made of text. */
import { type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import {
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  type ValidationData,
  type ValidatorType,
} from "@rjsf/utils";

/** One thing that is wrong with a value. */
export interface Fault {
  /** Names and indexes that lead to it; empty: the whole. */
  readonly path: readonly string[];
  readonly message: string;
}

/** What only says that something within it is wrong. */
const outer = new Set([
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "allOf",
  "$ref",
  "then",
  "else",
  "if",
  "dependentSchemas",
  "dependencies",
]);

const draftOf = (schema: RJSFSchema): SchemaDraft => {
  const named = typeof schema.$schema === "string" ? schema.$schema : "";
  if (named.includes("draft-04")) return "4";
  if (named.includes("draft-07") || named.includes("draft-06")) return "7";
  return named.includes("2019-09") ? "2019-09" : "2020-12";
};

const made = new WeakMap<object, Validator>();

function validatorOf(schema: RJSFSchema, draft: SchemaDraft): Validator {
  const known = made.get(schema);
  if (known !== undefined) return known;
  // All faults are told: the form marks each field.
  const validator = new Validator(schema as Schema, draft, false);
  made.set(schema, validator);
  return validator;
}

/**
 * What is wrong with the value, in the words of a form.
 * @returns none also where the schema itself cannot be used here (a pattern of another dialect): the service decides
 */
export function faultsOf(schema: unknown, value: unknown): readonly Fault[] {
  if (typeof schema !== "object" || schema === null) return [];
  const root = schema as RJSFSchema;
  try {
    const { errors } = validatorOf(root, draftOf(root)).validate(plain(value));
    const faults = errors
      .filter(({ keyword }) => !outer.has(keyword))
      .map(({ keyword, keywordLocation, instanceLocation, error }): Fault => {
        const path = pointer(instanceLocation);
        const missing = keyword === "required" ? /"(.*)"/s.exec(error)?.[1] : undefined;
        if (missing !== undefined) return { path: [...path, missing], message: "is required" };
        return { path, message: wordsOf(keyword, at(root, pointer(keywordLocation)), error) };
      });
    const seen = new Set<string>();
    return faults.filter(({ path, message }) => {
      const key = JSON.stringify([path, message]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  } catch {
    return [];
  }
}

/** Without members that are undefined: what would be sent. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const pointer = (location: string): string[] =>
  location
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map((part) => decodeURIComponent(part.replaceAll("~1", "/").replaceAll("~0", "~")));

function at(schema: unknown, path: readonly string[]): unknown {
  let here = schema;
  for (const part of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here;
}

function wordsOf(keyword: string, bound: unknown, error: string): string {
  switch (keyword) {
    case "minLength":
      return bound === 1 ? "must not be empty" : `must have at least ${bound} characters`;
    case "maxLength":
      return `must have at most ${bound} characters`;
    case "minimum":
      return `must be at least ${bound}`;
    case "maximum":
      return `must be at most ${bound}`;
    case "exclusiveMinimum":
      return `must be more than ${bound}`;
    case "exclusiveMaximum":
      return `must be less than ${bound}`;
    case "multipleOf":
      return `must be a multiple of ${bound}`;
    case "pattern":
      return `must match ${bound}`;
    case "format":
      return `must be a valid ${bound}`;
    case "type":
      return `must be ${Array.isArray(bound) ? bound.join(" or ") : bound}`;
    case "enum":
      return `must be one of ${Array.isArray(bound) ? bound.map((one) => JSON.stringify(one)).join(", ") : "a few"}`;
    case "const":
      return `must be ${JSON.stringify(bound)}`;
    case "minItems":
      return `must have at least ${bound} entries`;
    case "maxItems":
      return `must have at most ${bound} entries`;
    case "uniqueItems":
      return "must have no entry twice";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "has a member that is not known";
    case "anyOf":
    case "oneOf":
      return "fits none of its forms";
    default:
      return error;
  }
}

/** How the form tells a place: `.lanes.0.name`. */
const asErrors = (faults: readonly Fault[]): RJSFValidationError[] =>
  faults.map(({ path, message }) => ({
    property: path.length === 0 ? "." : `.${path.join(".")}`,
    message,
    stack: message,
  }));

/** The faults as the form takes them. */
export const errorSchemaOf = (faults: readonly Fault[]) => toErrorSchema<unknown>(asErrors(faults));

/** What the form asks to choose between the forms of `anyOf` and `oneOf`. */
export const validator: ValidatorType<unknown> = {
  validateFormData(value, schema): ValidationData<unknown> {
    const faults = faultsOf(schema, value);
    return { errors: asErrors(faults), errorSchema: errorSchemaOf(faults) };
  },
  isValid(schema, value, root) {
    const { definitions, $defs } = root;
    const whole = {
      allOf: [schema],
      ...(definitions === undefined ? {} : { definitions }),
      ...($defs === undefined ? {} : { $defs }),
    };
    try {
      return new Validator(whole as Schema, draftOf(root)).validate(plain(value)).valid;
    } catch {
      return false;
    }
  },
  rawValidation(schema, value) {
    // The form reads the errors of its own validator only through `validateFormData`.
    return { errors: asErrors(faultsOf(schema, value)) as never[] };
  },
};
