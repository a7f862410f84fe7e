/**
 * A form made from a JSON Schema (an agent's `input_schema`, a tool's, a workflow's), which the reader can switch to
 * JSON. What the form cannot show is edited as JSON within it; a schema that is no form at all is JSON only.
 *
 *     const input = useSchemaValue(schema);
 *     <SchemaForm label="Input" schema={schema} {...input} onSubmit={start} />
 *     <Button onClick={() => input.check() && start()}>Run</Button>
 */
import { lazy, Suspense, useMemo, useState } from "react";
import { Code } from "../code/code.tsx";
import type { Finding } from "../code/editor.tsx";
import { Button } from "../controls/button.tsx";
import { Loading } from "../page.tsx";

const Fields = lazy(() => import("./form.tsx").then(({ Fields }) => ({ default: Fields })));

/** A value that is filled in by a form. */
export interface SchemaValue {
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** The text in the JSON editor, while it is no JSON; null: it is. */
  readonly broken: string | null;
  readonly onBroken: (text: string | null) => void;
  /** Every fault is shown from now on. */
  readonly strict: boolean;
  /** Shows every fault. @returns whether the value can be sent */
  readonly check: () => Promise<boolean>;
}

/** What a form holds. @param first what is filled in already; absent: the schema's defaults, or nothing */
export function useSchemaValue(schema: unknown, first?: unknown): SchemaValue {
  const [value, setValue] = useState<unknown>(() => (first === undefined ? emptyOf(schema) : first));
  const [broken, setBroken] = useState<string | null>(null);
  const [strict, setStrict] = useState(false);
  return {
    value,
    onChange: setValue,
    broken,
    onBroken: setBroken,
    strict,
    async check() {
      setStrict(true);
      if (broken !== null) return false;
      const { faultsOf } = await import("./validator.ts");
      return faultsOf(schema, value).length === 0;
    },
  };
}

interface SchemaFormProps extends Omit<SchemaValue, "check"> {
  /** Names what is filled in, for readers of screens. */
  readonly label: string;
  readonly schema: unknown;
  /** Called for Enter in a field. */
  readonly onSubmit?: () => void;
  /** What the service found wrong with the value: paths below `root`, as in the issues of a refusal. */
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
  /** The first part of the paths of issues: `input`. */
  readonly root?: string;
  /** Only JSON. */
  readonly json?: boolean;
}

export function SchemaForm(props: SchemaFormProps) {
  const { label, schema, value, onChange, broken, onBroken, strict, onSubmit, issues = none, root = "" } = props;
  const canShow = isForm(schema);
  const [isJson, setJson] = useState(props.json === true || !canShow);
  const found = useMemo(() => issues.map((issue) => ({ ...issue, path: partsOf(issue.path, root) })), [issues, root]);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {canShow && (
        <div className="flex items-center justify-end gap-1">
          <Button
            small
            look="ghost"
            disabled={isJson && broken !== null}
            onClick={() => setJson(!isJson)}
            title={broken === null ? undefined : "Mend the JSON first"}
          >
            {isJson ? "Fill in as a form" : "Write as JSON"}
          </Button>
        </div>
      )}
      {isJson || !canShow ? (
        <JsonText label={label} value={value} onChange={onChange} broken={broken} onBroken={onBroken} found={found} />
      ) : (
        <Suspense fallback={<Loading lines={5} />}>
          <Fields schema={schema} value={value} onChange={onChange} onSubmit={onSubmit} strict={strict} found={found} />
        </Suspense>
      )}
    </div>
  );
}

const none: readonly never[] = [];

function JsonText({
  label,
  value,
  onChange,
  broken,
  onBroken,
  found,
}: Pick<SchemaFormProps, "label" | "value" | "onChange" | "broken" | "onBroken"> & {
  readonly found: readonly { readonly path: readonly string[]; readonly message: string }[];
}) {
  const [text, setText] = useState(() => broken ?? (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [reason, setReason] = useState<Finding | null>(null);
  const take = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === "" ? undefined : JSON.parse(next));
      onBroken(null);
      setReason(null);
    } catch (error) {
      onBroken(next);
      setReason({ line: lineOf(error, next), message: (error as Error).message, severity: "error" });
    }
  };
  const findings = useMemo(() => (reason === null ? none : [reason]), [reason]);
  return (
    <>
      <span aria-hidden className="font-medium text-ink-soft text-xs">
        {label}, as JSON
      </span>
      <div className="overflow-hidden rounded-control border border-line-strong">
        <Code
          label={`${label} as JSON`}
          language="json"
          value={text}
          onChange={take}
          findings={findings}
          height="16rem"
        />
      </div>
      {reason !== null && (
        <p role="alert" className="m-0 text-bad text-xs">
          {reason.message}
        </p>
      )}
      {found.map(({ path, message }) => (
        <p key={`${path.join(".")} ${message}`} role="alert" className="m-0 text-bad text-xs">
          <code>{path.join(".")}</code> {message}
        </p>
      ))}
    </>
  );
}

/** Browsers tell the place as a line or as a position, or not at all. */
function lineOf(error: unknown, text: string): number {
  const message = error instanceof Error ? error.message : "";
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return Number(line);
  const position = /position (\d+)/.exec(message)?.[1];
  return text.slice(0, Number(position ?? text.length)).split("\n").length;
}

function partsOf(path: string, root: string): string[] {
  const parts = path.split(".").filter((part) => part !== "");
  return parts[0] === root ? parts.slice(1) : parts;
}

/** Whether the schema says enough to make fields of it. */
export function isForm(schema: unknown): schema is object {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, properties, anyOf, oneOf, allOf, $ref, enum: values } = schema as Record<string, unknown>;
  if (properties !== undefined && Object.keys(properties as object).length === 0) return false;
  if (type === "object") return [properties, anyOf, oneOf, allOf, $ref].some((part) => part !== undefined);
  return [type, properties, anyOf, oneOf, allOf, $ref, values].some((part) => part !== undefined);
}

/** Where a form of the schema begins; fields add their defaults. */
function emptyOf(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, properties, default: preset } = schema as Record<string, unknown>;
  if (preset !== undefined) return preset;
  return type === "object" || properties !== undefined ? {} : undefined;
}
