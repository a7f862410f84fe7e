/** The fields of a JSON Schema; loaded when the first form of a schema is shown. */
// The package's index asks for the validator of its own tests, which compiles with eval and is not installed.
import Form from "@rjsf/core/lib/components/Form.js";
import type { RJSFSchema } from "@rjsf/utils";
import { useMemo, useState } from "react";
import { withChoices } from "./choices.ts";
import { templates } from "./templates.tsx";
import { errorSchemaOf, type Fault, faultsOf, validator } from "./validator.ts";
import { JsonField, widgets } from "./widgets.tsx";

export interface FieldsProps {
  readonly schema: object;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly onSubmit?: (() => void) | undefined;
  /** Faults of all fields are shown, not only of those that were left. */
  readonly strict: boolean;
  /** What the service found. */
  readonly found: readonly Fault[];
}

const idOf = (path: readonly string[]): string => ["root", ...path].join("_");

const fields = { FallbackField: JsonField };

export function Fields({ schema, value, onChange, onSubmit, strict, found }: FieldsProps) {
  const shown = useMemo(() => withChoices(schema) as RJSFSchema, [schema]);
  const [left, leave] = useState<ReadonlySet<string>>(new Set());
  const faults = [...faultsOf(schema, value).filter(({ path }) => strict || left.has(idOf(path))), ...found];
  return (
    <Form<unknown>
      schema={shown}
      formData={value}
      validator={validator}
      templates={templates}
      widgets={widgets}
      fields={fields}
      extraErrors={errorSchemaOf(faults)}
      noValidate
      noHtml5Validate
      showErrorList={false}
      experimental_defaultFormStateBehavior={{
        emptyObjectFields: "skipEmptyDefaults",
        arrayMinItems: { populate: "requiredOnly" },
        constAsDefaults: "always",
      }}
      onChange={({ formData }) => onChange(formData)}
      onBlur={(id) => leave((known) => (known.has(id) ? known : new Set([...known, id])))}
      onSubmit={() => onSubmit?.()}
    >
      {/* The page has its own button; Enter in a field sends the form by this one. */}
      <button type="submit" className="sr-only" tabIndex={-1} aria-hidden>
        Send
      </button>
    </Form>
  );
}
