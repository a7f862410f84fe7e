/** Two texts side by side. */
import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { editing, type Language, shadowOf } from "./editor-look.ts";

export function Merge({
  before,
  after,
  language,
}: {
  readonly before: string;
  readonly after: string;
  readonly language: Language;
}) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return;
    const root = shadowOf(host.current);
    const extensions = [editing(language), EditorState.readOnly.of(true), EditorView.editable.of(false)];
    const view = new MergeView({
      root,
      parent: root,
      a: { doc: before, extensions },
      b: { doc: after, extensions },
      collapseUnchanged: { margin: 3, minSize: 6 },
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, language]);
  return <div ref={host} className="max-h-[36rem] overflow-auto" />;
}
