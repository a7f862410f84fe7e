/** The types of the API's requests and answers, from the API document. */
import openapiTS, { astToString } from "openapi-typescript";

type Operation = Readonly<Record<string, unknown>> & { readonly responses: Readonly<Record<string, unknown>> };
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/**
 * @param document the API document, as `/openapi.json` answers it
 * @returns the text of `api.ts`: what each operation takes and answers. Refusals are left out: all have one shape,
 * which `client.ts` reads.
 */
export async function clientTypes(document: object): Promise<string> {
  const { paths, ...rest } = document as Document;
  const succeeding = Object.entries(paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, one]) => [method, withoutRefusals(one as Operation)])),
  ]);
  const spec = JSON.stringify({ ...rest, paths: Object.fromEntries(succeeding) });
  const types = astToString(await openapiTS(spec, { alphabetize: true, silent: true }));
  return `/** Generated from the API document: \`PIN=1 bun test test/pins/openapi.test.ts\` writes it. Do not change it by hand. */\n\n${withoutComments(types)}`;
}

function withoutRefusals({ responses, description: _, ...operation }: Operation): object {
  const kept = Object.entries(responses)
    .filter(([status]) => /^[123]/.test(status))
    .map(([status, response]) => [status, jsonFirst(response as Answered)]);
  return { ...operation, responses: Object.fromEntries(kept) };
}

interface Answered {
  readonly content?: Readonly<Record<string, unknown>>;
}

/** An answer that is JSON unless another form is asked for: who asks for that one reads it with `send`. */
function jsonFirst({ content, ...response }: Answered): object {
  const json = content?.["application/json"];
  if (json !== undefined) return { ...response, content: { "application/json": json } };
  return content === undefined ? response : { ...response, content };
}

/** What they tell stands in the reference; here they would be most of the text. */
const withoutComments = (types: string): string => types.replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "");
