/** How the fields of a schema's form stand: label, hint, what is wrong, and what they hold. */
import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type DescriptionFieldProps,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type TemplatesType,
} from "@rjsf/utils";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "../controls/button.tsx";
import { control } from "../controls/field.tsx";
import { inert } from "../values/text.tsx";
import { BaseInput } from "./widgets.tsx";

const isContainer = (type: unknown): boolean => type === "object" || type === "array";

function FieldTemplate(props: FieldTemplateProps<unknown>) {
  const { id, label, required = false, hidden = false, schema, rawDescription, rawErrors = [], children } = props;
  if (hidden) return <div className="hidden">{children}</div>;
  const isBoolean = schema.type === "boolean" && schema.enum === undefined;
  const isNamed = props.displayLabel !== false && !isBoolean && !isContainer(schema.type);
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema;
  // What contains others tells its own hint; see the templates below.
  const hint = isContainer(schema.type) ? "" : (rawDescription ?? "");
  const body = (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      {isNamed && !isAdditional && (
        <label htmlFor={id} className="font-medium text-ink-soft text-xs">
          {label === "" ? "Input" : inert(label)}
          {required ? (
            <span className="ml-1 text-bad" title="required">
              *
            </span>
          ) : (
            <span className="ml-1.5 font-normal text-ink-faint">optional</span>
          )}
        </label>
      )}
      {children}
      <div id={`${id}__about`} className="flex flex-col gap-0.5 text-xs empty:hidden">
        {hint !== "" && <span className="text-ink-faint">{inert(hint)}</span>}
        {rawErrors.map((error) => (
          <span key={error} role="alert" className="text-bad">
            {inert(error)}
          </span>
        ))}
      </div>
    </div>
  );
  return isAdditional ? <Additional {...props}>{body}</Additional> : body;
}

/** A member that the schema does not name: its name can be changed, and it can be removed. */
function Additional(props: FieldTemplateProps<unknown> & { readonly children: ReactNode }) {
  const { label, onKeyRename, onRemoveProperty, disabled, readonly } = props;
  const [name, setName] = useState(label);
  return (
    <div className="flex items-start gap-2">
      <input
        aria-label="Name of the member"
        value={name}
        disabled={disabled || readonly}
        className={`${control} max-w-48 font-mono text-xs`}
        onChange={(event) => setName(event.target.value)}
        onBlur={() => name !== "" && name !== label && onKeyRename(name)}
      />
      {props.children}
      <IconButton label={`Remove ${label}`} onClick={onRemoveProperty} disabled={disabled || readonly}>
        <Trash2 aria-hidden />
      </IconButton>
    </div>
  );
}

function Group({
  title,
  about,
  required,
  isRoot,
  children,
}: {
  readonly title: string;
  readonly about: ReactNode;
  readonly required: boolean;
  readonly isRoot: boolean;
  readonly children: ReactNode;
}) {
  if (isRoot)
    return (
      <div className="flex min-w-0 flex-col gap-4">
        {typeof about === "string" && about !== "" && <p className="m-0 text-ink-soft">{inert(about)}</p>}
        {children}
      </div>
    );
  return (
    <fieldset className="m-0 flex min-w-0 flex-col gap-3 rounded-panel border border-line p-3">
      <legend className="px-1 font-medium text-ink-soft text-xs">
        {inert(title)}
        {required ? <span className="ml-1 text-bad">*</span> : <span className="ml-1.5 text-ink-faint">optional</span>}
      </legend>
      {typeof about === "string" && about !== "" && <p className="m-0 text-ink-faint text-xs">{inert(about)}</p>}
      {children}
    </fieldset>
  );
}

function ObjectFieldTemplate(props: ObjectFieldTemplateProps<unknown>) {
  const { title, description, required = false, properties, fieldPathId, schema, uiSchema, formData } = props;
  if ((schema.oneOf !== undefined || schema.anyOf !== undefined) && properties.length === 0) return null;
  const isRoot = fieldPathId.path.length === 0;
  const shown = properties.filter(({ hidden }) => !hidden).map(({ content }) => content);
  return (
    <Group title={title} about={description ?? schema.description} required={required} isRoot={isRoot}>
      {shown}
      {canExpand(schema, uiSchema, formData as object) && (
        <div>
          <Button small onClick={props.onAddProperty} disabled={props.disabled || props.readonly}>
            <Plus aria-hidden />
            Add a member
          </Button>
        </div>
      )}
    </Group>
  );
}

function ArrayFieldTemplate(props: ArrayFieldTemplateProps<unknown>) {
  const { title, required = false, items, canAdd = false, onAddClick, fieldPathId, schema } = props;
  const isRoot = fieldPathId.path.length === 0;
  return (
    <Group title={title} about={schema.description} required={required} isRoot={isRoot}>
      {items}
      {canAdd && (
        <div>
          <Button small onClick={onAddClick} disabled={props.disabled || props.readonly}>
            <Plus aria-hidden />
            Add an entry
          </Button>
        </div>
      )}
    </Group>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index }: ArrayFieldItemTemplateProps<unknown>) {
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem, disabled, readonly } =
    buttonsProps;
  const isFixed = disabled || readonly;
  return (
    <div className="flex min-w-0 items-start gap-1">
      <div className="min-w-0 flex-1">{children}</div>
      {hasMoveUp && (
        <IconButton label={`Move entry ${index + 1} up`} onClick={onMoveUpItem} disabled={isFixed}>
          <ArrowUp aria-hidden />
        </IconButton>
      )}
      {hasMoveDown && (
        <IconButton label={`Move entry ${index + 1} down`} onClick={onMoveDownItem} disabled={isFixed}>
          <ArrowDown aria-hidden />
        </IconButton>
      )}
      {hasRemove && (
        <IconButton label={`Remove entry ${index + 1}`} onClick={onRemoveItem} disabled={isFixed}>
          <Trash2 aria-hidden />
        </IconButton>
      )}
    </div>
  );
}

function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps<unknown>) {
  return (
    <div className="flex min-w-0 flex-col gap-3 border-line border-l-2 pl-3">
      <div className="max-w-72">{selector}</div>
      {optionSchemaField}
    </div>
  );
}

const None = () => null;

function Description({ description }: DescriptionFieldProps<unknown>) {
  return typeof description === "string" ? <span className="text-ink-faint text-xs">{inert(description)}</span> : null;
}

export const templates: Partial<TemplatesType<unknown>> = {
  BaseInputTemplate: BaseInput,
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
  DescriptionFieldTemplate: Description,
  FieldErrorTemplate: None,
  ErrorListTemplate: None,
  // The template of the field does it.
  WrapIfAdditionalTemplate: ({ children }) => <>{children}</>,
};
