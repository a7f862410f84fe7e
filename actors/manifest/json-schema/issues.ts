/** What of a value does not conform to a schema, in words and with its place. */
import type { ErrorObject, ValidateFunction } from "ajv";

export type SchemaIssue = {
  /** Dotted, beginning with the name of the whole. */
  readonly path: string;
  readonly message: string;
};

/** More than this many help no caller. */
const maxIssues = 20;

/**
 * @param root what the whole value is called in paths
 * @returns none when the value conforms
 */
export function issuesOf(validate: ValidateFunction, value: unknown, root: string): readonly SchemaIssue[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, maxIssues).map((error) => worded(error, root));
}

function worded(error: ErrorObject, root: string): SchemaIssue {
  const path = root + error.instancePath.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  switch (error.keyword) {
    case "required":
      return { path, message: `required property ${error.params.missingProperty} is missing` };
    case "additionalProperties":
      return { path, message: `property ${error.params.additionalProperty} is not allowed` };
    case "enum":
      return { path, message: `must be one of ${JSON.stringify(error.params.allowedValues)}` };
    case "const":
      return { path, message: `must be ${JSON.stringify(error.params.allowedValue)}` };
    default:
      return { path, message: error.message ?? "does not conform" };
  }
}
