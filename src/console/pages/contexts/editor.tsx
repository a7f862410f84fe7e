/** A security context as text: written anew as a whole; what the service finds wrong stands at its line. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleAlert, Save } from "lucide-react";
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
  readonly onSave: (written: Written) => Promise<unknown>;
}

export function TextEditor({ first, stored, verb, about, disabled = false, onSave }: TextEditorProps) {
  const [text, setText] = useState(first);
  const [busy, setBusy] = useState(false);
  const [isCompared, compare] = useState(false);
  /** Of the text that was refused. */
  const [refused, setRefused] = useState<{ readonly text: string; readonly error: unknown } | null>(null);
  const broken = useMemo(() => brokenIn(text), [text]);
  const error = refused?.text === text ? refused.error : null;
  const findings = useMemo(() => {
    if (broken.length > 0) return broken;
    return error instanceof ApiError ? located(text, error.issues) : [];
  }, [broken, error, text]);
  const isChanged = text !== stored;
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
            disabled={disabled || !isChanged || broken.length > 0}
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
          <Trouble title="It was not saved" error={error} />
        ) : (
          <p className="m-0 text-ink-soft">{isChanged ? about : "This is what holds now."}</p>
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
