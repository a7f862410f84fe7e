/**
 * Templates of manifests and workflows: Handlebars' syntax, interpreted.
 *
 * Templates are written by tenants, so nothing is compiled to code, values have only their own members,
 * and depth, work and output are bounded.
 */
import Handlebars from "handlebars";
import { LRUCache } from "lru-cache";
import type { Json } from "../kernel/json.ts";
import { Effort, type TellMissing, TemplateError } from "./effort.ts";
import { helpers, isTrue, member, print, type Value } from "./helpers.ts";
import { nestsDeeper, tagCharacters } from "./nesting.ts";
import { printedBy, printedPaths, printsLookup } from "./printed.ts";
import { onlyExpression, type Whole } from "./whole.ts";

export { TemplateError };

type Variables = { readonly [name: string]: Value };

/** A stretch of what a template yields: the author's own text, or what one `{{…}}` printed. */
export interface Part {
  readonly by: "author" | "value";
  readonly text: string;
}

/** A template before it is rendered: what stands in it, block by block. */
export type Outline = readonly (
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "value" }
  | { readonly is: "block"; readonly body: Outline; readonly otherwise: Outline }
)[];

export interface Template {
  /**
   * @param effort shared by all that are rendered at one time; its own by default
   * @param missing told of what is printed and does not exist
   * @throws TemplateError when it takes too long or yields more than `maxBytes`
   */
  render(variables: Variables, maxBytes: number, effort?: Effort, missing?: TellMissing): string;
  /**
   * What `render` yields, kept apart by who wrote it. Every `{{…}}` is a value of its own, even an empty one; the
   * author's neighbouring texts are one.
   * @throws TemplateError as `render`
   */
  renderParts(variables: Variables, maxBytes: number, effort?: Effort, missing?: TellMissing): readonly Part[];
  /**
   * The value itself where the template is nothing but one `{{path}}` (an empty text where it does not exist) or
   * `{{json value}}` (null); null for every other template.
   * @throws TemplateError as `render`, by the value's JSON
   */
  whole(
    variables: Variables,
    maxBytes: number,
    effort?: Effort,
    missing?: TellMissing,
  ): { readonly value: Json } | null;
  /** The paths that it prints, as names from the variables on; see `printedPaths`. */
  printed(): readonly (readonly string[])[];
  outline(): Outline;
  /** Whether any path of the template begins with one of these names. */
  mentions(names: readonly string[]): boolean;
}

const deepest = 32;
/** Between braces, in one template: parsing takes up to 5 µs for each. */
const maxTagCharacters = 8 * 1024;
/** Characters of a path that are shown. */
const maxShownPath = 200;
/** Helpers that hand a value on without looking into it. */
const freeHelpers = new Set(["default", "and", "or", "not"]);
const blocks = new Set(["if", "unless", "each", "with"]);

type Program = hbs.AST.Program;
type Expression = hbs.AST.Expression;

/** Characters of all kept templates: a tree takes many times the memory of its source. */
const keptCharacters = 2_000_000;
const compiled = new LRUCache<string, Template>({
  max: 2000,
  maxSize: keptCharacters,
  maxEntrySize: keptCharacters / 4,
  sizeCalculation: (_, source) => source.length + 1,
});

/** @throws TemplateError */
export function compile(source: string): Template {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const program = parse(source);
  const roots = new Set<string>();
  check(program, 0, roots);
  const template: Template = {
    render: (variables, maxBytes, effort, missing) => new Rendering(variables, maxBytes, effort, missing).text(program),
    renderParts: (variables, maxBytes, effort, missing) =>
      new Rendering(variables, maxBytes, effort, missing).run(program),
    printed: () => printedPaths(program),
    whole(variables, maxBytes, effort, missing) {
      const only = onlyExpression(program);
      if (only === null) return null;
      const value = new Rendering(variables, maxBytes, effort, missing).whole(only);
      return { value: value === undefined ? only.absent : value };
    },
    outline: () => outlineOf(program),
    mentions: (names) => names.some((name) => roots.has(name)),
  };
  compiled.set(source, template);
  return template;
}

/**
 * What `{{#if …}}` would be given: a path, a literal, or a helper call with or without its parentheses.
 * @throws TemplateError when the text is none of these
 */
export function compileExpression(text: string): (variables: Variables, effort?: Effort) => Value {
  const expression = readExpression(text) ?? readExpression(`(${text})`);
  if (expression === null) throw new TemplateError("This is neither a path nor a call of a helper");
  checkExpression(expression, 0, new Set());
  return (variables, effort) => new Rendering(variables, 0, effort).evaluate(expression);
}

/**
 * The value of a path or a helper call as `{{#if …}}` is given it.
 * @throws TemplateError when the text is neither, or the evaluation takes too long
 */
export function evaluate(expressionText: string, variables: Variables): Value {
  return compileExpression(expressionText)(variables);
}

/** @returns null when the text is no single expression, or more than that: it could close the block itself */
function readExpression(text: string): Expression | null {
  let program: Program;
  try {
    program = parse(`{{#if ${text}}}.{{/if}}`);
  } catch (error) {
    if (error instanceof TemplateError && error.message === tooDeep().message) throw error;
    return null;
  }
  const [block, ...more] = program.body;
  if (block === undefined || more.length > 0 || !isA<hbs.AST.BlockStatement>(block, "BlockStatement")) return null;
  const [only, ...others] = block.program?.body ?? [];
  const isPlain =
    block.path.original === "if" &&
    others.length === 0 &&
    only !== undefined &&
    isA<hbs.AST.ContentStatement>(only, "ContentStatement") &&
    only.value === "." &&
    !block.inverse &&
    !block.hash &&
    !block.program.blockParams;
  const [given] = block.params;
  if (!isPlain || given === undefined || block.params.length > 1) return null;
  return isA<hbs.AST.SubExpression>(given, "SubExpression") && given.hash ? null : given;
}

function parse(source: string): Program {
  if (tagCharacters(source) > maxTagCharacters) {
    throw new TemplateError(`The template has more than ${maxTagCharacters / 1024} KiB between its braces`);
  }
  // A chain of `else` counts twice in the tree.
  if (nestsDeeper(source, 2 * deepest)) throw tooDeep();
  try {
    return Handlebars.parse(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : "";
    throw new TemplateError(`The template cannot be read: ${reason}`);
  }
}

const tooDeep = (): TemplateError => new TemplateError("The template nests too deeply");

/** Refuses what is not offered, before anything is rendered. */
function check(program: Program | undefined, depth: number, roots: Set<string>): void {
  if (depth > deepest) throw tooDeep();
  for (const statement of program?.body ?? []) {
    if (isA<hbs.AST.MustacheStatement>(statement, "MustacheStatement")) checkCall(statement, depth, roots);
    else if (isA<hbs.AST.BlockStatement>(statement, "BlockStatement")) {
      const name = statement.path.original;
      if (!blocks.has(name)) throw new TemplateError(`There is no block ${name}`);
      if (statement.params.length !== 1) throw new TemplateError(`The block ${name} takes one value`);
      for (const param of statement.params) checkExpression(param, depth + 1, roots);
      check(statement.program, depth + 1, roots);
      check(statement.inverse, depth + 1, roots);
    } else if (statement.type !== "ContentStatement" && statement.type !== "CommentStatement") {
      throw new TemplateError("Partials and decorators are not offered");
    }
  }
}

function checkCall(call: hbs.AST.MustacheStatement | hbs.AST.SubExpression, depth: number, roots: Set<string>): void {
  if (call.params.length === 0) {
    checkExpression(call.path as Expression, depth, roots);
    return;
  }
  const name = (call.path as hbs.AST.PathExpression).original;
  if (!Object.hasOwn(helpers, name)) throw new TemplateError(`There is no helper ${name}`);
  for (const param of call.params) checkExpression(param, depth + 1, roots);
}

function checkExpression(expression: Expression, depth: number, roots: Set<string>): void {
  if (depth > deepest) throw tooDeep();
  if (isA<hbs.AST.SubExpression>(expression, "SubExpression")) checkCall(expression, depth, roots);
  if (isA<hbs.AST.PathExpression>(expression, "PathExpression") && expression.parts[0] !== undefined) {
    roots.add(String(expression.parts[0]));
  }
}

function isA<T extends hbs.AST.Node>(node: hbs.AST.Node, type: string): node is T {
  return node.type === type;
}

function outlineOf(program: Program | undefined): Outline {
  return (program?.body ?? []).flatMap((statement): Outline => {
    if (isA<hbs.AST.ContentStatement>(statement, "ContentStatement")) return [{ is: "text", text: statement.value }];
    if (isA<hbs.AST.MustacheStatement>(statement, "MustacheStatement")) return [{ is: "value" }];
    if (!isA<hbs.AST.BlockStatement>(statement, "BlockStatement")) return [];
    return [{ is: "block", body: outlineOf(statement.program), otherwise: outlineOf(statement.inverse) }];
  });
}

/** What names mean at one place of the template. */
interface Scope {
  readonly self: Value;
  readonly parent: Scope | null;
  /** `@index`, `@key`, `@first`, `@last`, and block parameters. */
  readonly data: { readonly [name: string]: Value };
  readonly named: { readonly [name: string]: Value };
}

class Rendering {
  private readonly parts: Part[] = [];
  private length = 0;

  constructor(
    private readonly variables: Variables,
    private readonly maxBytes: number,
    private readonly effort = new Effort(),
    private readonly missing: TellMissing | null = null,
  ) {}

  text(program: Program): string {
    return this.run(program)
      .map(({ text }) => text)
      .join("");
  }

  run(program: Program): readonly Part[] {
    this.body(program, this.outermost());
    const bytes = this.parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > this.maxBytes) this.tooLarge();
    return this.parts;
  }

  whole({ statement, expression }: Whole): Value {
    const scope = this.outermost();
    this.tellMissing(statement, scope);
    const value = this.value(expression, scope);
    this.effort.lookThrough(value);
    if (Buffer.byteLength(print(value)) > this.maxBytes) this.tooLarge();
    return value;
  }

  evaluate(expression: Expression): Value {
    return this.value(expression, this.outermost());
  }

  private outermost(): Scope {
    return { self: this.variables, parent: null, data: {}, named: {} };
  }

  private tooLarge(): never {
    throw new TemplateError(`The rendered text is larger than ${this.maxBytes} bytes`);
  }

  private write(by: Part["by"], text: string): void {
    this.length += text.length;
    if (this.length > this.maxBytes) this.tooLarge();
    this.effort.write(text);
    const last = this.parts.at(-1);
    // An author's text in a loop: joined as it comes, so that a value has one text before it.
    if (by === "author" && last?.by === "author") this.parts[this.parts.length - 1] = { by, text: last.text + text };
    else this.parts.push({ by, text });
  }

  private body(program: Program | undefined, scope: Scope): void {
    for (const statement of program?.body ?? []) {
      this.effort.spend(1);
      if (isA<hbs.AST.ContentStatement>(statement, "ContentStatement")) this.write("author", statement.value);
      else if (isA<hbs.AST.MustacheStatement>(statement, "MustacheStatement"))
        this.write("value", print(this.printed(statement, scope)));
      else if (isA<hbs.AST.BlockStatement>(statement, "BlockStatement")) this.block(statement, scope);
    }
  }

  private printed(statement: hbs.AST.MustacheStatement, scope: Scope): Value {
    const value = this.call(statement, scope);
    // Most values are there; what is absent where helpers print it leaves an empty text as well.
    if (value === undefined || statement.params.length > 0) this.tellMissing(statement, scope);
    return value;
  }

  private tellMissing(statement: hbs.AST.MustacheStatement, scope: Scope): void {
    if (this.missing === null) return;
    const paths = printedBy(statement).filter((path) => this.path(path, scope) === undefined);
    for (const { original } of paths) this.missing(original.slice(0, maxShownPath));
    if (paths.length === 0 && printsLookup(statement) && this.call(statement, scope) === undefined) {
      this.missing("what lookup names");
    }
  }

  private block(block: hbs.AST.BlockStatement, scope: Scope): void {
    const value = block.params[0] === undefined ? undefined : this.value(block.params[0], scope);
    const name = block.path.original;
    const entered = name === "unless" ? !isTrue(value) : isTrue(value);
    if (!entered) {
      this.body(block.inverse, scope);
      return;
    }
    if (name === "each") {
      this.each(block, value, scope);
      return;
    }
    if (name !== "with") {
      this.body(block.program, scope);
      return;
    }
    const [alias] = block.program.blockParams ?? [];
    const named = alias === undefined ? scope.named : { ...scope.named, [alias]: value };
    this.body(block.program, { self: value, parent: scope, data: scope.data, named });
  }

  private each(block: hbs.AST.BlockStatement, list: Value, scope: Scope): void {
    if (list === null || typeof list !== "object") {
      this.body(block.inverse, scope);
      return;
    }
    const entries = Object.entries(list) as [string, Value][];
    if (entries.length === 0) {
      this.body(block.inverse, scope);
      return;
    }
    this.effort.spend(entries.length);
    const [alias, place] = block.program.blockParams ?? [];
    entries.forEach(([name, self], index) => {
      const key = Array.isArray(list) ? index : name;
      const data = { index, key, first: index === 0, last: index === entries.length - 1 };
      const named = {
        ...(alias === undefined ? {} : { [alias]: self }),
        ...(place === undefined ? {} : { [place]: key }),
      };
      this.body(block.program, { self, parent: scope, data, named: { ...scope.named, ...named } });
    });
  }

  private call(call: hbs.AST.MustacheStatement | hbs.AST.SubExpression, scope: Scope): Value {
    if (call.params.length === 0) return this.value(call.path as Expression, scope);
    const name = (call.path as hbs.AST.PathExpression).original;
    const given = call.params.map((param) => this.value(param, scope));
    this.charge(name, given);
    return helpers[name]?.(given);
  }

  /** Makes a helper's work count by the size of what it looks through. */
  private charge(name: string, given: readonly Value[]): void {
    if (freeHelpers.has(name)) return;
    const looksInside = !(name === "lookup" || (name === "length" && Array.isArray(given[0])));
    for (const value of looksInside ? given : given.slice(1)) this.effort.lookThrough(value);
  }

  private value(expression: Expression, scope: Scope): Value {
    if (isA<hbs.AST.SubExpression>(expression, "SubExpression")) return this.call(expression, scope);
    if (isA<hbs.AST.PathExpression>(expression, "PathExpression")) return this.path(expression, scope);
    return (expression as Expression & { value?: Value }).value;
  }

  private path({ parts, depth, data }: hbs.AST.PathExpression, scope: Scope): Value {
    let at: Scope | null = scope;
    for (let up = 0; up < depth && at !== null; up++) at = at.parent;
    if (at === null) return undefined;
    const [first, ...rest] = parts.map(String);
    if (first === undefined) return at.self;
    let value: Value = at.self;
    let names: string[] = [first, ...rest];
    if (data) {
      value = first === "root" ? this.variables : member(at.data, first);
      names = rest;
    } else if (depth === 0 && Object.hasOwn(at.named, first)) {
      value = at.named[first];
      names = rest;
    }
    return names.reduce<Value>(member, value);
  }
}
