/** What something is started with: a form where a schema says what is wanted, else text or JSON. */
import { useState } from "react";
import type { Issue } from "../../../programs/client/errors.ts";
import { Button } from "../controls/button.tsx";
import { TextArea } from "../controls/field.tsx";
import { isForm, SchemaForm, type SchemaValue } from "./schema-form.tsx";

/**
 * @param issues of a refusal, with paths below `input`
 * @param onSubmit called for Enter in a field of the form
 */
export function InputFields({
  schema,
  input,
  issues,
  onSubmit,
}: {
  readonly schema: unknown;
  readonly input: SchemaValue;
  readonly issues?: readonly Issue[];
  readonly onSubmit?: () => void;
}) {
  const [isJson, setJson] = useState(input.value !== undefined && typeof input.value !== "string");
  const { check: _, ...value } = input;
  if (isForm(schema) || isJson)
    return (
      <div className="flex flex-col gap-2">
        {!isForm(schema) && (
          <Button small look="ghost" className="self-end" onClick={() => setJson(false)}>
            Write as text
          </Button>
        )}
        <SchemaForm
          label="Input"
          schema={schema}
          {...value}
          issues={issues ?? []}
          root="input"
          {...(onSubmit === undefined ? {} : { onSubmit })}
        />
      </div>
    );
  return (
    <div className="flex flex-col gap-2">
      <Button small look="ghost" className="self-end" onClick={() => setJson(true)}>
        Write as JSON
      </Button>
      <TextArea
        label="Input"
        hint="Any text. The agent's manifest names no schema for its input."
        value={
          typeof input.value === "string" ? input.value : input.value === undefined ? "" : JSON.stringify(input.value)
        }
        onChange={input.onChange}
        rows={6}
      />
    </div>
  );
}
