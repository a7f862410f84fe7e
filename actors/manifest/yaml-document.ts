/**
 * Reads one YAML document from an untrusted client: no custom tags, no duplicate keys, bounded depth, bounded
 * alias expansion, bounded work. The library does the syntax; the limits are kept here.
 */
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type YAMLMap,
} from "yaml";
import type { Json } from "../kernel/json.ts";
import { Problem } from "../kernel/problem.ts";
import { isTextPath, type TextPaths, textPathsBelow } from "./text-paths.ts";

/** Levels of maps and sequences, aliases expanded. */
export const maxDepth = 64;
const maxAliasExpansions = 100;
/** Characters that aliases may add to the document. */
const maxExpandedCharacters = 1024 * 1024;
/** Keeps hostile text of 1 MiB from holding up the process for seconds; a normal manifest has a few thousand. */
const maxLexemes = 200_000;

const plainTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);

export function malformed(message: string): Problem {
  return new Problem("malformed_body", message);
}

/**
 * @param textPaths places where an unquoted scalar keeps its source text
 * @throws Problem `malformed_body` for every fault, and nothing else
 */
export function readYaml(source: string, textPaths: TextPaths | null): Json {
  const document = compose(source);
  const check = new NodeCheck();
  check.visit(document.contents, 1);
  return new Conversion(check.targets).convert(document.contents, textPaths, 1);
}

function compose(source: string): Document.Parsed {
  const composer = new Composer({
    stringKeys: true,
    // Checked below in linear time; the library compares every key with every other.
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents = [...composer.compose(boundedTokens(source), true, source.length)];
  const [document] = documents;
  if (document === undefined) throw malformed("The manifest is empty");
  if (documents.length > 1) throw malformed("The manifest must be one YAML document");
  const [fault] = document.errors;
  if (fault !== undefined)
    throw malformed(`Not valid YAML at ${position(source, fault.pos[0])}: ${firstLine(fault.message)}`);
  const { yaml } = document.directives;
  if (yaml.explicit && yaml.version !== "1.2") throw malformed(`YAML ${yaml.version} is not read here; write YAML 1.2`);
  return document;
}

function* boundedTokens(source: string) {
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(source)) {
    lexemes += 1;
    if (lexemes > maxLexemes) throw malformed("The manifest has too many parts");
    yield* parser.next(lexeme);
    // The stack also holds the document and the scalar under way.
    if (parser.stack.length > maxDepth + 2) throw tooDeep();
  }
  yield* parser.end();
}

/**
 * Walks the nodes in the order they were written, refuses what is not allowed and
 * finds the node each alias stands for: the latest one anchored under that name before it.
 */
class NodeCheck {
  readonly targets = new Map<Node, Node>();
  private readonly anchors = new Map<string, Node>();

  visit(node: unknown, depth: number): void {
    if (isAlias(node)) this.link(node);
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return;
    if (node.tag !== undefined && !plainTags.has(node.tag))
      throw malformed(`The tag ${shown(node.tag)} is not allowed`);
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
    if (isScalar(node)) return;
    if (depth > maxDepth) throw tooDeep();
    if (isMap(node)) checkKeys(node);
    for (const item of node.items) {
      if (!isPair(item)) this.visit(item, depth + 1);
      else for (const half of [item.key, item.value]) this.visit(half, depth + 1);
    }
  }

  private link(alias: Alias): void {
    const target = this.anchors.get(alias.source);
    if (target === undefined) throw malformed(`The alias *${shown(alias.source)} has no anchor before it`);
    this.targets.set(alias, target);
  }
}

function checkKeys(map: YAMLMap): void {
  const keys = new Set<string>();
  for (const pair of map.items) {
    const key = keyOf(pair.key);
    if (keys.has(key)) throw malformed(`The key ${shown(key)} occurs twice in one map`);
    keys.add(key);
  }
}

class Conversion {
  private expansions = 0;
  private expandedCharacters = 0;

  constructor(private readonly targets: ReadonlyMap<Node, Node>) {}

  convert(node: unknown, paths: TextPaths | null, depth: number, expanding = false): Json {
    if (depth > maxDepth + 1) throw tooDeep();
    if (isAlias(node)) {
      this.expansions += 1;
      if (this.expansions > maxAliasExpansions) throw malformed(`More than ${maxAliasExpansions} alias expansions`);
      return this.convert(this.targets.get(node), paths, depth, true);
    }
    if (isMap(node)) {
      // Object.fromEntries defines members, so that a key `__proto__` stays a key.
      return Object.fromEntries(
        node.items.map((pair) => {
          const key = keyOf(pair.key);
          this.grow(key.length, expanding);
          return [key, this.convert(pair.value, textPathsBelow(paths, key), depth + 1, expanding)];
        }),
      );
    }
    if (isSeq(node)) {
      const below = textPathsBelow(paths, "*");
      return node.items.map((item) => this.convert(item, below, depth + 1, expanding));
    }
    if (!isScalar(node)) return null;
    const { value, source } = node;
    this.grow(source?.length ?? 1, expanding);
    if (typeof value === "string" || value === null) return value;
    if (isTextPath(paths) && source !== undefined) return source;
    return typeof value === "number" || typeof value === "boolean" ? value : String(value);
  }

  private grow(characters: number, expanding: boolean): void {
    if (!expanding) return;
    this.expandedCharacters += characters + 1;
    if (this.expandedCharacters > maxExpandedCharacters) throw malformed("The aliases expand to too much text");
  }
}

/** Map keys are scalars read as text (`stringKeys`). */
function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value ?? "") : String(key ?? "");
}

export function tooDeep(): Problem {
  return malformed(`Nested deeper than ${maxDepth} levels`);
}

/** A piece of the caller's text, short enough for a message. */
function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0]?.slice(0, 200) ?? "";
}

function position(source: string, offset: number): string {
  const before = source.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
