/** A security context as text: checked by the service while it is typed, its findings at their lines; written as a whole. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CheckCircle2, CircleAlert, Save } from "lucide-react";
import { useMemo, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { Code, Difference } from "../../kit/code/code.tsx";
import type { Finding } from "../../kit/code/editor.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";
import { useSettled } from "../../kit/values/time.tsx";
import { brokenIn, located } from "../agents/findings.ts";
import { readContext, textOf, type Written } from "./findings.ts";
import { type Context, writtenOf } from "./words.ts";

export function ContextEditor({ context }: { readonly context: Context }) {
  const queries = useQueryClient();
  const { name, metadata } = context;
  const stored = useQuery({
    queryKey: ["security_context", "one", name, "text", metadata.version],
    queryFn: () => textOf(writtenOf(context)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (stored.data === undefined) return <Loading lines={8} />;
  return (
    <TextEditor
      first={stored.data}
      stored={stored.data}
      verb="Save"
      about={`Saving makes version ${metadata.version + 1}. It binds running executions and sessions within five seconds.`}
      checked={name}
      onCheck={(written) => {
        const params = { path: { name }, query: { dry_run: true } };
        return answer(svc.PUT("/v1/security-contexts/{name}", { params, body: written }));
      }}
      onSave={async (written) => {
        const params = { path: { name }, header: { "If-Match": `"${metadata.version}"` } };
        const saved = await answer(svc.PUT("/v1/security-contexts/{name}", { params, body: written }));
        tell("Saved", `${name} is at version ${saved.metadata.version}.`);
        await queries.invalidateQueries({ queryKey: ["security_context"] });
      }}
    />
  );
}

interface TextEditorProps {
  readonly first: string;
  /** Null: of a new context. */
  readonly stored: string | null;
  readonly verb: string;
  readonly about: string;
  readonly disabled?: boolean;
  /** What the check depends on beside the text. */
  readonly checked: string;
  /** Says what the service thinks of it, and stores nothing. */
  readonly onCheck: (written: Written) => Promise<unknown>;
  readonly onSave: (written: Written) => Promise<unknown>;
}

export function TextEditor(props: TextEditorProps) {
  const { first, stored, verb, about, disabled = false, onSave } = props;
  const [text, setText] = useState(first);
  const [busy, setBusy] = useState(false);
  const [isCompared, compare] = useState(false);
  /** Of the text that was refused. */
  const [refused, setRefused] = useState<{ readonly text: string; readonly error: unknown } | null>(null);
  const isChanged = text !== stored;
  const check = useCheck(props, text, isChanged);
  const refusal = refused?.text === text ? refused.error : null;
  const error = refusal ?? check.error;
  const findings = useMemo(() => {
    if (check.broken.length > 0) return check.broken;
    return error instanceof ApiError ? located(text, error.issues) : [];
  }, [check.broken, error, text]);
  const isFaulty = check.broken.length > 0 || error !== null;
  const save = async () => {
    setBusy(true);
    setRefused(null);
    try {
      await onSave(await readContext(text));
    } catch (failure) {
      setRefused({ text, error: failure });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel
      flush
      title="Rules as text"
      actions={
        <>
          {stored !== null && isChanged && (
            <>
              <Button small look="ghost" onClick={() => setText(stored)}>
                Undo all
              </Button>
              <Button small look="ghost" onClick={() => compare(true)}>
                Compare
              </Button>
            </>
          )}
          <Button
            small
            look="primary"
            busy={busy}
            disabled={disabled || !isChanged || isFaulty}
            onClick={() => void save()}
          >
            <Save aria-hidden />
            {verb}
          </Button>
        </>
      }
    >
      <Code label="Security context" language="yaml" value={text} findings={findings} onChange={setText} />
      <div aria-live="polite" className="flex flex-col gap-2 border-line border-t px-4 py-2.5 text-xs">
        {findings.length > 0 ? (
          <Findings of={findings} />
        ) : error !== null ? (
          <Trouble {...(refusal === null ? {} : { title: "It was not saved" })} error={error} />
        ) : (
          <Standing isChanged={isChanged} isValid={check.isValid} about={about} />
        )}
      </div>
      <Dialog
        open={isCompared}
        onClose={() => compare(false)}
        size="large"
        title="What differs"
        about="Left: what holds now. Right: as it is written here."
      >
        <Difference before={stored ?? ""} after={text} language="yaml" />
      </Dialog>
    </Panel>
  );
}

/** What is wrong with a text: no YAML at all, or what the service says of it once typing pauses. */
function useCheck({ checked, onCheck }: TextEditorProps, text: string, isChanged: boolean) {
  const broken = useMemo(() => brokenIn(text), [text]);
  const settled = useSettled(text, 500);
  const isSettled = settled === text;
  const { data } = useQuery({
    queryKey: ["security-context-check", checked, settled],
    // What is wrong is what is asked for: it is no failure of the question.
    queryFn: async () => ({
      error: await readContext(settled)
        .then(onCheck)
        .then(
          () => null,
          (failure: unknown) => failure,
        ),
    }),
    enabled: isChanged && isSettled && broken.length === 0,
    gcTime: 10_000,
  });
  const told = isSettled ? data : undefined;
  return { broken, error: told?.error ?? null, isValid: told?.error === null };
}

function Standing({
  isChanged,
  isValid,
  about,
}: {
  readonly isChanged: boolean;
  readonly isValid: boolean;
  readonly about: string;
}) {
  if (!isChanged) return <p className="m-0 text-ink-soft">This is what holds now.</p>;
  if (!isValid) return <p className="m-0 text-ink-soft">Checking …</p>;
  return (
    <p className="m-0 flex items-center gap-1.5">
      <CheckCircle2 aria-hidden className="size-3.5 shrink-0 text-good" />
      Valid. {about}
    </p>
  );
}

function Findings({ of }: { readonly of: readonly Finding[] }) {
  return (
    <ul aria-label="Findings" className="m-0 flex list-none flex-col gap-1 p-0">
      {of.map(({ line, message }) => (
        <li key={`${line} ${message}`} className="flex items-start gap-1.5">
          <CircleAlert aria-hidden className="mt-px size-3.5 shrink-0 text-bad" />
          <span className="shrink-0 text-ink-soft">line {line}</span>
          <span className="min-w-0 break-words">{inert(message)}</span>
        </li>
      ))}
    </ul>
  );
}
