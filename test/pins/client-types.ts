/** The types of the API's requests and answers, from the API document. */
import openapiTS, { astToString } from "openapi-typescript";

type Operation = Readonly<Record<string, unknown>> & {
  readonly parameters: readonly object[];
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
interface Document {
  readonly components: { readonly schemas: object };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/**
 * @param document the API document, as `/openapi.json` answers it
 * @returns the text of `api.ts`: what each operation takes and answers. Refusals are left out: all have one shape,
 * which `client.ts` reads.
 */
export async function clientTypes(document: object): Promise<string> {
  const { paths, components, ...rest } = document as Document;
  const succeeding = Object.entries(paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, one]) => [method, withoutRefusals(one as Operation)])),
  ]);
  const spec = JSON.stringify({
    ...rest,
    components: { schemas: components.schemas },
    paths: Object.fromEntries(succeeding),
  });
  const types = astToString(await openapiTS(spec, { alphabetize: true, silent: true, defaultNonNullable: false }));
  return `/** Generated from the API document: \`PIN=1 bun test test/pins/openapi.test.ts\` writes it. Do not change it by hand. */\n\n${spare(types)}`;
}

function withoutRefusals({ responses, parameters, description: _, ...operation }: Operation): object {
  const kept = Object.entries(responses).filter(([status]) => /^[123]/.test(status));
  // What operations share, the client sends by itself.
  const own = parameters.filter((one) => !Object.hasOwn(one, "$ref"));
  return {
    ...operation,
    parameters: own,
    responses: Object.fromEntries(kept.map(([status, one]) => [status, plain(one)])),
  };
}

/** Headers of answers are of no particular type. */
function plain({ headers: _, content, ...answer }: Readonly<Record<string, unknown>>): object {
  if (content === undefined) return answer;
  const json = (content as Readonly<Record<string, unknown>>)["application/json"];
  // JSON unless another form is asked for: who asks for that one reads it with `send`.
  return { ...answer, content: json === undefined ? content : { "application/json": json } };
}

/**
 * Leaves out what tells a caller nothing: comments (what they say stands in the reference), methods and parameters that
 * there are not, and headers of answers, which are of no particular type.
 */
const spare = (types: string): string =>
  orUndefined(
    types
      .replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "")
      .replace(
        /^ *(?:get|put|post|delete|options|head|patch|trace|query|header|path|cookie|requestBody)\?: never;\n/gm,
        "",
      )
      .replace(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, "")
      .replace(/^( *)parameters: \{\n *\};\n/gm, "$1parameters: {};\n")
      // Of a path; those of an operation follow its own name.
      .replace(/^ {8}parameters: \{\};\n(?= {8}\w+: operations)/gm, ""),
  );

/** What is optional may be there as undefined: neither JSON nor a query shows it. */
function orUndefined(types: string): string {
  /** Indents of optional members that go on over several lines. */
  const open: string[] = [];
  const lines = types.split("\n").map((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    const text = line.slice(indent.length);
    const begins = /^(?!requestBody|content)\S+\?: /.test(text);
    const ends = text.endsWith(";") && (begins || (/^[})]/.test(text) && open.at(-1) === indent));
    if (begins && !ends) open.push(indent);
    if (!begins && ends) open.pop();
    return ends ? `${line.slice(0, -1)} | undefined;` : line;
  });
  return lines.join("\n");
}
