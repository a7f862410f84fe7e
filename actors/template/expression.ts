/**
 * What a `custom` condition says: an infix expression, or what a template's `if` would be given.
 *
 *   or         = and { "||" and }
 *   and        = comparison { "&&" comparison }
 *   comparison = unary [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) unary ]
 *   unary      = { "!" } ( "(" or ")" | literal | path )
 *
 * Paths are names joined by dots (`REVIEW.output.[0].score`); a name may hold `-`, as state names do. Values compare,
 * print and count as true as in templates, except that what is absent equals null. A text that reads both ways is
 * infix: it means the same.
 */
import type { Json } from "../kernel/json.ts";
import { Effort } from "./effort.ts";
import { helpers, isTrue, member, type Value } from "./helpers.ts";
import { compileExpression, TemplateError } from "./template.ts";

/** An expression that is not understood; the message says why and where. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";
type Node =
  | { readonly is: "literal"; readonly value: Json }
  | { readonly is: "path"; readonly names: readonly string[] }
  | { readonly is: "not"; readonly of: Node }
  | { readonly is: "and" | "or"; readonly left: Node; readonly right: Node }
  | { readonly is: "compare"; readonly by: Comparison; readonly left: Node; readonly right: Node };

type Variables = { readonly [name: string]: Value };

/** An expression that was read; `evaluateExpression` says what it comes to. */
export type Expression =
  | { readonly form: "infix"; readonly root: Node }
  | { readonly form: "template"; readonly value: (variables: Variables, effort: Effort) => Value };

const maxCharacters = 4096;
const deepest = 32;

/** @throws ExpressionError */
export function parseExpression(text: string): Expression {
  if (text.length > maxCharacters) throw new ExpressionError(`An expression has at most ${maxCharacters} characters`);
  if (text.trim() === "") throw new ExpressionError("The expression is empty");
  try {
    return { form: "infix", root: new Parser(tokensOf(text)).whole() };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { form: "template", value: templateValue(text, error) };
  }
}

/** The paths that an infix expression asks for, each once; of one in the form of a template they are not known. */
export function pathsIn(expression: Expression): readonly (readonly string[])[] {
  if (expression.form === "template") return [];
  const found = new Map<string, readonly string[]>();
  const waiting: Node[] = [expression.root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.is === "path") found.set(JSON.stringify(node.names), node.names);
    else if (node.is === "not") waiting.push(node.of);
    else if (node.is !== "literal") waiting.push(node.left, node.right);
  }
  return [...found.values()];
}

/** @throws ExpressionError the fault of the infix reading: it is what authors mostly write */
function templateValue(text: string, infix: ExpressionError): (variables: Variables, effort: Effort) => Value {
  // Templates allow nearly any character in a name: a mistyped operator would become a path that leads nowhere.
  const names = text.replace(/"[^"]*"|'[^']*'|\[[^\]]*\]/g, "");
  if (/[^\w\s.@()/-]/.test(names)) throw infix;
  try {
    return compileExpression(text);
  } catch (error) {
    if (error instanceof TemplateError) throw infix;
    throw error;
  }
}

/**
 * Whether it holds; paths see the variables' own members only.
 *
 * @throws TemplateError when it would take too long
 */
function resultOf(expression: Expression, variables: Variables, effort: Effort): boolean {
  if (expression.form === "template") return isTrue(expression.value(variables, effort));
  return isTrue(evaluate(expression.root, variables, effort));
}

/**
 * As `resultOf`; a fault counts as false, and `onFault` is told of it.
 *
 * @param effort shared by what is evaluated at one time; its own by default
 */
export function evaluateExpression(
  expression: Expression,
  variables: Variables,
  onFault: (reason: string) => void = () => {},
  effort = new Effort(),
): boolean {
  try {
    return resultOf(expression, variables, effort);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    onFault(error.message);
    return false;
  }
}

function evaluate(node: Node, variables: Variables, effort: Effort): Value {
  switch (node.is) {
    case "literal":
      return node.value;
    case "path":
      return node.names.reduce<Value>(member, variables) ?? null;
    case "not":
      return !isTrue(evaluate(node.of, variables, effort));
    case "and":
      return isTrue(evaluate(node.left, variables, effort)) && isTrue(evaluate(node.right, variables, effort));
    case "or":
      return isTrue(evaluate(node.left, variables, effort)) || isTrue(evaluate(node.right, variables, effort));
    case "compare": {
      const pair = [evaluate(node.left, variables, effort), evaluate(node.right, variables, effort)];
      for (const value of pair) effort.lookThrough(value);
      return helpers[comparisons[node.by]]?.(pair);
    }
  }
}

const comparisons: Readonly<Record<Comparison, string>> = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte",
};

interface Token {
  readonly is: "mark" | "literal" | "path";
  readonly text: string;
  readonly value: Json;
  readonly names: readonly string[];
  /** From 1. */
  readonly column: number;
}

const name = String.raw`(?:[A-Za-z_][A-Za-z0-9_-]*|\[[^\]\n]*\])`;
const token = new RegExp(
  String.raw`\s*(?:(?<mark>&&|\|\||[=!<>]=|[!<>()])|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<path>${name}(?:\.(?:${name}|\d+))*))`,
  "sy",
);
const words: Readonly<Record<string, Json>> = { true: true, false: false, null: null };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(text)?.groups;
    const column = at + (text.slice(at).match(/^\s*/)?.[0].length ?? 0) + 1;
    if (found === undefined) throw new ExpressionError(`Nothing is understood from column ${column} on`);
    tokens.push(tokenOf(found, column));
  }
  return tokens;
}

function tokenOf(found: { readonly [group: string]: string | undefined }, column: number): Token {
  const { mark, number, text, path } = found;
  const plain = { text: "", value: null, names: [], column };
  if (mark !== undefined) return { ...plain, is: "mark", text: mark };
  if (number !== undefined) return { ...plain, is: "literal", text: number, value: finite(number, column) };
  if (text !== undefined) return { ...plain, is: "literal", text, value: unquoted(text) };
  const written = path ?? "";
  if (Object.hasOwn(words, written)) return { ...plain, is: "literal", text: written, value: words[written] ?? null };
  const names = (written.match(/\[[^\]]*\]|[^.[\]]+/g) ?? []).map((one) => one.replace(/^\[(.*)\]$/s, "$1"));
  return { ...plain, is: "path", text: written, names };
}

function finite(written: string, column: number): number {
  const number = Number(written);
  if (!Number.isFinite(number)) throw new ExpressionError(`The number at column ${column} is too large`);
  return number;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** A backslash takes the next character as it is, but for `\n`, `\t` and `\r`. */
function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  whole(): Node {
    const root = this.or();
    const extra = this.tokens[this.at];
    if (extra !== undefined) throw new ExpressionError(`Unexpected ${extra.text} at column ${extra.column}`);
    return root;
  }

  private or(): Node {
    let left = this.and();
    while (this.takes("||")) left = { is: "or", left, right: this.and() };
    return left;
  }

  private and(): Node {
    let left = this.comparison();
    while (this.takes("&&")) left = { is: "and", left, right: this.comparison() };
    return left;
  }

  private comparison(): Node {
    const left = this.unary();
    const next = this.tokens[this.at];
    if (next?.is !== "mark" || !Object.hasOwn(comparisons, next.text)) return left;
    this.at += 1;
    const right = this.unary();
    const after = this.tokens[this.at];
    if (after?.is === "mark" && Object.hasOwn(comparisons, after.text)) {
      throw new ExpressionError(`Comparisons in a row need parentheses, at column ${after.column}`);
    }
    return { is: "compare", by: next.text as Comparison, left, right };
  }

  private unary(): Node {
    this.depth += 1;
    if (this.depth > deepest) throw new ExpressionError("The expression nests too deeply");
    const node = this.takes("!") ? { is: "not" as const, of: this.unary() } : this.primary();
    this.depth -= 1;
    return node;
  }

  private primary(): Node {
    const next = this.tokens[this.at];
    if (next === undefined) throw new ExpressionError("The expression ends too early");
    this.at += 1;
    if (next.is === "literal") return { is: "literal", value: next.value };
    if (next.is === "path") return { is: "path", names: next.names };
    if (next.text !== "(") throw new ExpressionError(`Unexpected ${next.text} at column ${next.column}`);
    const inner = this.or();
    if (!this.takes(")")) throw new ExpressionError(`The parenthesis at column ${next.column} is not closed`);
    return inner;
  }

  private takes(mark: string): boolean {
    const next = this.tokens[this.at];
    if (next?.is !== "mark" || next.text !== mark) return false;
    this.at += 1;
    return true;
  }
}
