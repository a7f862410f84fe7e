/** YAML and JSON with their parts marked by classes, by the grammars of the editor. */
import { jsonLanguage } from "@codemirror/lang-json";
import { yamlLanguage } from "@codemirror/lang-yaml";
import { escaped } from "./html.ts";

/** Node of a grammar → the class of what it covers. Others, and what lies between, stay plain. */
const classes: Readonly<Record<string, string>> = {
  Comment: "comment",
  PropertyName: "key",
  String: "string",
  QuotedLiteral: "string",
  BlockLiteralContent: "string",
  Number: "number",
  True: "number",
  False: "number",
  Null: "number",
  Anchor: "number",
  Alias: "number",
  Tag: "number",
  DirectiveName: "comment",
};

const grammars = { yaml: yamlLanguage, json: jsonLanguage } as const;

/** @returns HTML; the text alone for languages without a grammar here */
export function highlighted(text: string, language: string): string {
  if (language === "sh") return shell(text);
  if (language !== "yaml" && language !== "json") return escaped(text);
  let html = "";
  let done = 0;
  grammars[language].parser.parse(text).iterate({
    enter(node) {
      const { name, from, to } = node;
      const isKey =
        language === "yaml" && (name === "Literal" || name === "QuotedLiteral") && node.matchContext(["Key"]);
      const kind = isKey
        ? "key"
        : language === "yaml" && name === "Literal"
          ? scalar(text.slice(from, to))
          : classes[name];
      if (kind === undefined || from < done) return true;
      html += `${escaped(text.slice(done, from))}<span class="${kind}">${escaped(text.slice(from, to))}</span>`;
      done = to;
      return false;
    },
  });
  return html + escaped(text.slice(done));
}

/** Plain words of YAML stay as they are; numbers and the words with a meaning are marked. */
const scalar = (text: string): string | undefined =>
  /^(?:true|false|null|~|[-+]?\d[\d_.eE+-]*)$/.test(text) ? "number" : undefined;

/** Comments of a shell, at the beginning of a line or behind two blanks. */
function shell(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const [, code = line, comment = ""] = /^(.*?(?:^|\s{2}))(#.*)$/.exec(line) ?? [];
      return comment === "" ? escaped(line) : `${escaped(code)}<span class="comment">${escaped(comment)}</span>`;
    })
    .join("\n");
}
