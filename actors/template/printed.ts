/** What a template prints: where a path that does not exist leaves a gap that the author did not mean. */

type Program = hbs.AST.Program;
type Call = hbs.AST.MustacheStatement | hbs.AST.SubExpression;

/** Helpers that print what they are given. All others ask, compare or have an answer to what is absent. */
const printing = new Set(["upper", "lower", "trim", "json", "first_line", "lookup"]);

/** The paths whose values a call prints; none where it deals with absent values itself. */
export function printedBy(call: Call): readonly hbs.AST.PathExpression[] {
  if (call.params.length === 0) return isPath(call.path) ? [call.path] : [];
  if (!printing.has((call.path as hbs.AST.PathExpression).original)) return [];
  return call.params.flatMap((param) => {
    if (isPath(param)) return [param];
    return param.type === "SubExpression" ? printedBy(param as hbs.AST.SubExpression) : [];
  });
}

/** Whether a call prints what another value names: then it may be missing although every path is there. */
export const printsLookup = (call: Call): boolean =>
  call.params.length > 0 && (call.path as hbs.AST.PathExpression).original === "lookup";

/**
 * The paths that a template prints and that begin at its variables: those within `each` and `with` begin elsewhere.
 * @returns the names of each, from the first
 */
export function printedPaths(program: Program | undefined): readonly (readonly string[])[] {
  return (program?.body ?? []).flatMap((statement): readonly (readonly string[])[] => {
    if (statement.type === "MustacheStatement") {
      return printedBy(statement as hbs.AST.MustacheStatement)
        .filter(({ data, depth, parts }) => !data && depth === 0 && parts.length > 0)
        .map(({ parts }) => parts.map(String));
    }
    if (statement.type !== "BlockStatement") return [];
    const { path, program: body, inverse } = statement as hbs.AST.BlockStatement;
    const isRelative = path.original === "each" || path.original === "with";
    return [...(isRelative ? [] : printedPaths(body)), ...printedPaths(inverse)];
  });
}

const isPath = (node: hbs.AST.Node): node is hbs.AST.PathExpression => node.type === "PathExpression";
