/** How editors look: the console's own colours, so that light and dark follow by themselves. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type Language = "yaml" | "json" | "text";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--color-accent)" },
  { tag: [tags.string, tags.content], color: "var(--color-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--color-warn)" },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: "var(--color-violet)" },
  { tag: [tags.comment, tags.punctuation, tags.separator], color: "var(--color-ink-faint)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "12.5px", backgroundColor: "var(--color-surface)", color: "var(--color-ink)", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55" },
  ".cm-gutters": {
    backgroundColor: "var(--color-surface)",
    color: "var(--color-ink-faint)",
    borderRight: "1px solid var(--color-line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--color-hover)" },
  ".cm-cursor": { borderLeftColor: "var(--color-ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--color-accent) 25%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--color-raised)",
    border: "1px solid var(--color-line)",
    color: "var(--color-ink)",
  },
  ".cm-panels": { backgroundColor: "var(--color-raised)", color: "var(--color-ink)" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--color-good) 28%, transparent) !important" },
  ".cm-deletedChunk .cm-deletedText, .cm-merge-a .cm-changedText": {
    background: "color-mix(in srgb, var(--color-bad) 28%, transparent) !important",
  },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--color-bad-soft)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--color-good-soft)" },
});

/**
 * Letters typed over a selection are put in by the editor. Browsers that do it themselves keep the colour of what was
 * there in a style attribute, which the page's policy refuses.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || view.composing) return false;
    const { state } = view;
    if (state.readOnly || state.selection.ranges.every(({ empty }) => empty)) return false;
    event.preventDefault();
    view.dispatch(state.update(state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true }));
    return true;
  },
});

const languages: Readonly<Record<Language, () => Extension>> = { yaml, json, text: () => [] };

/** What every editor of the console has. */
export const editing = (language: Language): Extension => [
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  highlightActiveLine(),
  history(),
  indentOnInput(),
  bracketMatching(),
  lintGutter(),
  typeOver,
  EditorView.lineWrapping,
  keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
  languages[language](),
  syntaxHighlighting(colours),
  theme,
];

/**
 * A place for an editor that takes its styles from constructed style sheets: within a shadow root no style element is
 * made, which the page's policy would refuse.
 */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}
