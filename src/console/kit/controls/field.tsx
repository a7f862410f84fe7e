/** What is typed and chosen: each with a label, a hint, and what is wrong with it. */
import { Checkbox as BaseCheckbox } from "@base-ui/react/checkbox";
import { Field as BaseField } from "@base-ui/react/field";
import { Select as BaseSelect } from "@base-ui/react/select";
import { Switch as BaseSwitch } from "@base-ui/react/switch";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** The label is read aloud but not shown: in bars of filters. */
  readonly quiet?: boolean;
  readonly className?: string;
}

export const control =
  "h-8 w-full min-w-0 rounded-control border border-line-strong bg-surface px-2.5 text-ink outline-none hover:border-ink-faint focus-visible:border-accent focus-visible:ring-2 focus-visible:ring-accent/30 disabled:opacity-60 data-invalid:border-bad";

function Field({
  label,
  hint,
  error,
  quiet = false,
  className,
  children,
}: FieldProps & { readonly children: ReactNode }) {
  return (
    <BaseField.Root invalid={error != null} className={classes("flex min-w-0 flex-col gap-1", className)}>
      <BaseField.Label className={quiet ? "sr-only" : "font-medium text-ink-soft text-xs"}>{label}</BaseField.Label>
      {children}
      {hint !== undefined && (
        <BaseField.Description className="m-0 text-ink-faint text-xs">{hint}</BaseField.Description>
      )}
      {error != null && (
        <BaseField.Error match={true} className="m-0 text-bad text-xs">
          {error}
        </BaseField.Error>
      )}
    </BaseField.Root>
  );
}

interface InputProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly type?: "text" | "search" | "password" | "email" | "number" | "url" | "datetime-local";
  readonly mono?: boolean;
  readonly disabled?: boolean;
  readonly required?: boolean;
  readonly autoFocus?: boolean;
  readonly onEnter?: () => void;
  readonly list?: string;
}

export function Input({
  value,
  onChange,
  placeholder,
  type = "text",
  mono = false,
  disabled = false,
  required = false,
  autoFocus = false,
  onEnter,
  list,
  ...field
}: InputProps) {
  return (
    <Field {...field}>
      <BaseField.Control
        type={type}
        value={value}
        list={list}
        placeholder={placeholder}
        disabled={disabled}
        required={required}
        autoFocus={autoFocus}
        autoComplete="off"
        spellCheck={false}
        className={classes(control, mono && "font-mono text-xs")}
        onValueChange={(next) => onChange(String(next))}
        onKeyDown={(event) => {
          if (event.key === "Enter" && onEnter !== undefined) onEnter();
        }}
      />
    </Field>
  );
}

interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly mono?: boolean;
}

export function TextArea({ value, onChange, placeholder, rows = 4, mono = false, ...field }: TextAreaProps) {
  return (
    <Field {...field}>
      <BaseField.Control
        render={<textarea rows={rows} />}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        className={classes(control, "h-auto resize-y py-1.5 leading-5", mono && "font-mono text-xs")}
        onValueChange={(next) => onChange(String(next))}
      />
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends FieldProps {
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
  readonly disabled?: boolean;
}

export function Select({ value, choices, onChange, disabled = false, label, quiet = false, ...field }: SelectProps) {
  return (
    <Field label={label} quiet={quiet} {...field}>
      <BaseSelect.Root
        items={choices}
        value={value}
        disabled={disabled}
        onValueChange={(next) => onChange(String(next))}
      >
        <BaseSelect.Trigger
          aria-label={label}
          className={classes(control, "flex cursor-default items-center justify-between gap-2 text-left")}
        >
          <BaseSelect.Value className="truncate" />
          <BaseSelect.Icon>
            <ChevronsUpDown aria-hidden className="size-3.5 text-ink-faint" />
          </BaseSelect.Icon>
        </BaseSelect.Trigger>
        <BaseSelect.Portal>
          <BaseSelect.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50">
            <BaseSelect.Popup className="pop max-h-80 min-w-(--anchor-width) overflow-auto p-1 outline-none">
              {choices.map((choice) => (
                <BaseSelect.Item
                  key={choice.value}
                  value={choice.value}
                  className="flex cursor-default items-center gap-2 rounded-control py-1.5 pr-6 pl-2 outline-none data-highlighted:bg-hover"
                >
                  <span className="w-4">
                    <BaseSelect.ItemIndicator>
                      <Check aria-hidden className="size-3.5" />
                    </BaseSelect.ItemIndicator>
                  </span>
                  <BaseSelect.ItemText>{choice.label}</BaseSelect.ItemText>
                </BaseSelect.Item>
              ))}
            </BaseSelect.Popup>
          </BaseSelect.Positioner>
        </BaseSelect.Portal>
      </BaseSelect.Root>
    </Field>
  );
}

export function Checkbox({
  checked,
  onChange,
  label,
  mixed = false,
  quiet = false,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label: string;
  readonly mixed?: boolean;
  readonly quiet?: boolean;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside
    <label className="inline-flex items-center gap-2">
      <BaseCheckbox.Root
        checked={checked}
        indeterminate={mixed}
        onCheckedChange={onChange}
        aria-label={quiet ? label : undefined}
        className="flex size-4 shrink-0 items-center justify-center rounded border border-line-strong bg-surface data-checked:border-accent-strong data-checked:bg-accent-strong data-indeterminate:border-accent-strong data-indeterminate:bg-accent-strong"
      >
        <BaseCheckbox.Indicator className="text-on-accent">
          {mixed ? <span className="block h-0.5 w-2 bg-current" /> : <Check aria-hidden className="size-3" />}
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      {!quiet && label}
    </label>
  );
}

export function Switch({
  checked,
  onChange,
  label,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label: string;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside
    <label className="inline-flex items-center gap-2">
      <BaseSwitch.Root
        checked={checked}
        onCheckedChange={onChange}
        className="flex h-4.5 w-8 shrink-0 items-center rounded-full bg-line-strong p-0.5 transition-colors data-checked:bg-accent-strong"
      >
        <BaseSwitch.Thumb className="size-3.5 rounded-full bg-white transition-transform data-checked:translate-x-3.5" />
      </BaseSwitch.Root>
      {label}
    </label>
  );
}
