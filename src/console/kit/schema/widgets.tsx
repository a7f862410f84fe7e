/** What is typed and chosen in a form of a schema, in the look of the kit. */
import {
  type BaseInputTemplateProps,
  enumOptionsDeselectValue,
  enumOptionsIndexForValue,
  enumOptionsIsSelected,
  enumOptionsSelectValue,
  enumOptionsValueForIndex,
  type FieldProps,
  getInputProps,
  type RegistryWidgetsType,
  type WidgetProps,
} from "@rjsf/utils";
import { useState } from "react";
import { classes } from "../controls/classes.ts";
import { Checkbox, control } from "../controls/field.tsx";

/** Texts of more than this many characters, and those that have line ends, get room for several lines. */
const longText = 80;

export function BaseInput(props: BaseInputTemplateProps<unknown>) {
  const { id, value, readonly, disabled, onBlur, onFocus, onChange, onChangeOverride, options, schema } = props;
  const { type, step, min, max } = getInputProps(schema, props.type, options);
  const text = value === undefined || value === null ? "" : String(value);
  const examples = Array.isArray(schema.examples) ? schema.examples.filter((one) => typeof one !== "object") : [];
  const take = (next: string) => onChange(next === "" ? options.emptyValue : next);
  const shared = {
    id,
    name: id,
    value: text,
    readOnly: readonly,
    disabled,
    placeholder: props.placeholder || (examples.length > 0 ? String(examples[0]) : ""),
    "aria-describedby": `${id}__about`,
    "aria-invalid": (props.rawErrors ?? []).length > 0,
    spellCheck: false,
    autoComplete: "off",
    onBlur: () => onBlur(id, value),
    onFocus: () => onFocus(id, value),
  };
  const isLong = type === "text" && (text.includes("\n") || text.length > longText || (schema.maxLength ?? 0) > 500);
  if (isLong)
    return (
      <textarea
        {...shared}
        rows={Math.min(14, Math.max(4, text.split("\n").length + 1))}
        className={classes(control, "h-auto resize-y py-1.5 leading-5")}
        onChange={(event) => take(event.target.value)}
      />
    );
  return (
    <input
      {...shared}
      type={type}
      step={step}
      min={min}
      max={max}
      className={control}
      onChange={(event) => (onChangeOverride === undefined ? take(event.target.value) : onChangeOverride(event))}
    />
  );
}

function TextAreaWidget(props: WidgetProps<unknown>) {
  const { id, value, readonly, disabled, onBlur, onFocus, onChange, options } = props;
  return (
    <textarea
      id={id}
      name={id}
      rows={options.rows ?? 5}
      value={typeof value === "string" ? value : ""}
      readOnly={readonly}
      disabled={disabled}
      spellCheck={false}
      aria-describedby={`${id}__about`}
      className={classes(control, "h-auto resize-y py-1.5 leading-5")}
      onBlur={() => onBlur(id, value)}
      onFocus={() => onFocus(id, value)}
      onChange={(event) => onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
    />
  );
}

function SelectWidget(props: WidgetProps<unknown>) {
  const { id, value, required, readonly, disabled, multiple, onBlur, onFocus, onChange, options, schema } = props;
  if (multiple === true) return <ChoicesWidget {...props} />;
  const { enumOptions = [], emptyValue } = options;
  const index = enumOptionsIndexForValue(value, enumOptions);
  return (
    <select
      id={id}
      name={id}
      value={typeof index === "string" ? index : ""}
      disabled={disabled || readonly}
      aria-describedby={`${id}__about`}
      className={classes(control, "pr-1")}
      onBlur={() => onBlur(id, value)}
      onFocus={() => onFocus(id, value)}
      onChange={(event) => onChange(enumOptionsValueForIndex(event.target.value, enumOptions, emptyValue))}
    >
      {(index === undefined || !required || schema.default === undefined) && <option value="">–</option>}
      {enumOptions.map((option, at) => (
        <option key={JSON.stringify(option.value)} value={String(at)}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** Several of a few. */
function ChoicesWidget({ id, value, readonly, disabled, onBlur, onChange, options }: WidgetProps<unknown>) {
  const { enumOptions = [] } = options;
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset
      id={id}
      disabled={disabled || readonly}
      className="m-0 flex flex-wrap gap-x-5 gap-y-1.5 border-0 p-0 py-1"
    >
      {enumOptions.map((option, at) => (
        <Checkbox
          key={JSON.stringify(option.value)}
          label={option.label}
          checked={enumOptionsIsSelected(option.value, chosen)}
          onChange={(checked) => {
            onChange(
              checked
                ? enumOptionsSelectValue(String(at), chosen, enumOptions)
                : enumOptionsDeselectValue(String(at), chosen, enumOptions),
            );
            onBlur(id, value);
          }}
        />
      ))}
    </fieldset>
  );
}

function CheckboxWidget({ id, value, label, readonly, disabled, onBlur, onChange }: WidgetProps<unknown>) {
  return (
    <fieldset disabled={disabled || readonly} className="m-0 border-0 p-0 py-0.5">
      <Checkbox
        label={label}
        checked={value === true}
        onChange={(checked) => {
          onChange(checked);
          onBlur(id, checked);
        }}
      />
    </fieldset>
  );
}

/** Any JSON: for parts of a schema that no field can show. */
export function JsonField({ fieldPathId, formData, onChange, onBlur, readonly, disabled }: FieldProps<unknown>) {
  const [text, setText] = useState(() => (formData === undefined ? "" : JSON.stringify(formData, null, 2)));
  const [reason, setReason] = useState<string | null>(null);
  const id = fieldPathId.$id;
  const take = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next), fieldPathId.path);
      setReason(null);
    } catch (error) {
      setReason(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <textarea
        id={id}
        name={id}
        rows={3}
        value={text}
        placeholder="JSON"
        readOnly={readonly}
        disabled={disabled}
        spellCheck={false}
        aria-describedby={`${id}__about`}
        className={classes(control, "h-auto resize-y py-1.5 font-mono text-xs leading-5")}
        onChange={(event) => take(event.target.value)}
        onBlur={() => onBlur(id, formData)}
      />
      {reason !== null && <p className="m-0 text-bad text-xs">{reason}</p>}
    </>
  );
}

export const widgets: RegistryWidgetsType<unknown> = {
  TextareaWidget: TextAreaWidget,
  textarea: TextAreaWidget,
  SelectWidget,
  CheckboxWidget,
  CheckboxesWidget: ChoicesWidget,
  RadioWidget: SelectWidget,
};
