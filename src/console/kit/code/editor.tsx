/** The text editor. */
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { editing, type Language, shadowOf } from "./editor-look.ts";

export interface Finding {
  /** From 1. */
  readonly line: number;
  readonly message: string;
  readonly severity: "error" | "warning";
}

export interface EditorProps {
  readonly label: string;
  readonly value: string;
  readonly language: Language;
  /** Absent: the text can only be read. */
  readonly onChange?: (value: string) => void;
  readonly findings?: readonly Finding[];
  /** A CSS height; as high as the text when absent. */
  readonly height?: string;
}

export function Editor({ label, value, language, onChange, findings = none, height }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const isFixed = onChange === undefined;
  // The text is given once; later ones are put in below.
  const first = useRef(value);
  useEffect(() => {
    if (host.current === null) return;
    const root = shadowOf(host.current);
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          editing(language),
          EditorState.readOnly.of(isFixed),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      first.current = made.state.doc.toString();
      made.destroy();
      view.current = null;
    };
  }, [language, isFixed, label]);
  useEffect(() => {
    const shown = view.current;
    if (shown === null || shown.state.doc.toString() === value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const shown = view.current;
    if (shown === null) return;
    const { doc } = shown.state;
    const marks = findings.map(({ line, message, severity }) => {
      const at = doc.line(Math.max(1, Math.min(line, doc.lines)));
      return { from: at.from, to: at.to, message, severity };
    });
    shown.dispatch(setDiagnostics(shown.state, marks));
  }, [findings]);
  return <div ref={host} className="min-h-16 overflow-hidden" style={height === undefined ? {} : { height }} />;
}

const none: readonly Finding[] = [];
