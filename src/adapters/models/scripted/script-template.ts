/**
 * The templates of scripted replies: Handlebars' syntax over a few named values, with `if` and `unless`.
 * A template may come from any caller's prompt, so nothing is compiled to code, no other helper or partial is
 * known, values have no members but the groups of a match, and the result has a largest size.
 */
import Handlebars from "handlebars";

export type TemplateValue = string | number | RegExpExecArray | null;
export type TemplateValues = Readonly<Record<string, TemplateValue>>;

/** A template that Handlebars does not understand, or that asks for more than values. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
}

const largestResult = 4 * 1024 * 1024;
const largestTemplate = 1024 * 1024;
const deepestBlock = 32;

type Piece =
  | string
  | { readonly path: string }
  | { readonly test: string; readonly negated: boolean; readonly held: Template; readonly otherwise: Template };
export type Template = readonly Piece[];

/** @throws TemplateProblem */
export function compileTemplate(source: string): Template {
  if (source.length > largestTemplate) throw new TemplateProblem("the template is too large");
  if (!source.includes("{{")) return [source];
  try {
    return pieces(Handlebars.parse(source), 0);
  } catch (error) {
    if (error instanceof TemplateProblem) throw error;
    throw new TemplateProblem("the template is no Handlebars template");
  }
}

/** Unknown names are empty. @throws TemplateProblem when the result is too large */
export function renderTemplate(template: Template, values: TemplateValues): string {
  const parts: string[] = [];
  let length = 0;
  const render = (current: Template): void => {
    for (const piece of current) {
      if (typeof piece === "object" && "test" in piece) {
        render(Boolean(valueAt(piece.test, values)) === piece.negated ? piece.otherwise : piece.held);
        continue;
      }
      const text = typeof piece === "string" ? piece : print(valueAt(piece.path, values));
      length += text.length;
      if (length > largestResult) throw new TemplateProblem("the rendered text is too large");
      parts.push(text);
    }
  };
  render(template);
  return parts.join("");
}

function pieces(program: hbs.AST.Program | undefined, depth: number): Template {
  if (depth > deepestBlock) throw new TemplateProblem("the template nests too deeply");
  return (program?.body ?? []).flatMap((statement): readonly Piece[] => {
    if (isContent(statement)) return [statement.value];
    if (statement.type === "CommentStatement") return [];
    if (isMustache(statement) && statement.params.length === 0 && !statement.hash)
      return [{ path: pathOf(statement.path) }];
    if (isBlock(statement) && statement.params.length === 1 && !statement.hash) {
      const helper = pathOf(statement.path);
      const [test] = statement.params;
      if ((helper === "if" || helper === "unless") && test) {
        const inner = { held: pieces(statement.program, depth + 1), otherwise: pieces(statement.inverse, depth + 1) };
        return [{ test: pathOf(test), negated: helper === "unless", ...inner }];
      }
    }
    throw new TemplateProblem("a template may hold values, `if` and `unless` only");
  });
}

function valueAt(path: string, values: TemplateValues): unknown {
  const [head = "", ...rest] = path.split(".");
  const value = Object.hasOwn(values, head) ? values[head] : undefined;
  if (rest.length === 0) return value;
  if (!Array.isArray(value)) return undefined;
  const member = rest.join(".");
  if (/^\d{1,3}$/.test(member)) return value[Number(member)];
  const groups: unknown = "groups" in value ? value.groups : undefined;
  if (typeof groups !== "object" || groups === null) return undefined;
  return Object.getOwnPropertyDescriptor(groups, member)?.value;
}

function print(value: unknown): string {
  if (value === undefined || value === null) return "";
  return Array.isArray(value) ? String(value[0]) : String(value);
}

function pathOf(expression: hbs.AST.Expression | hbs.AST.Literal): string {
  if (expression.type !== "PathExpression" || !("parts" in expression) || !Array.isArray(expression.parts)) {
    throw new TemplateProblem("a template may hold values, `if` and `unless` only");
  }
  return expression.parts.join(".");
}

function isContent(statement: hbs.AST.Statement): statement is hbs.AST.ContentStatement {
  return statement.type === "ContentStatement";
}

function isMustache(statement: hbs.AST.Statement): statement is hbs.AST.MustacheStatement {
  return statement.type === "MustacheStatement";
}

function isBlock(statement: hbs.AST.Statement): statement is hbs.AST.BlockStatement {
  return statement.type === "BlockStatement";
}
