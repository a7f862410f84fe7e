/** The bodies of requests and answers in the API document: media type → shape and example. */
import { KindGuard, type TSchema, Type } from "@sinclair/typebox";
import { stringify } from "yaml";
import { asWritten } from "../../../actors/kernel/schema.ts";
import { mediaTypesOf, streamedBy, withoutMedia } from "../answer.ts";
import type { BodyRule, Route } from "../route.ts";
import type { Components } from "./components.ts";
import { exampleOf } from "./examples.ts";

export interface Content {
  readonly schema?: unknown;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Record<string, Content>;
}

/** What a request to the route carries; null: nothing. */
export function requestBody({ body, takes }: Route, components: Components): RequestBody | null {
  if (takes !== null) {
    const content = Object.entries(takes).map(([type, schema]) => [type, contentAs(type, schema, components)]);
    return { required: true, content: Object.fromEntries(content) };
  }
  if (!body) return null;
  const types = body.kind === "json" ? ["application/json"] : body.shown;
  const schema = body.schema ?? bytes;
  const content = types.map((type) => [type, contentAs(type, schema, components)] as const);
  return { required: isRequired(body), content: Object.fromEntries(content) };
}

const bytes = Type.String({ format: "binary" });

const isRequired = (body: BodyRule): boolean => {
  if (body.kind === "raw" || !body.optional) return true;
  const written = asWritten(body.schema);
  return KindGuard.IsObject(written) && (written.required ?? []).length > 0;
};

const jsonTypes = /^(application\/json|application\/[\w.-]+\+json|\*\/\*)$/;
const textTypes = /^(text\/|application\/(x-)?yaml$)/;
const formTypes = /^(application\/x-www-form-urlencoded|multipart\/form-data)$/;

/** A shape as it is written under a media type: as text it is YAML. */
function contentAs(type: string, schema: TSchema, components: Components): Content {
  const written = asWritten(schema);
  // Where only bytes are described, no example could be right.
  if (written.format === "binary") return { schema: components.refer(written) };
  const example = exampleOf(written);
  if (textTypes.test(type) && !KindGuard.IsString(written))
    return { schema: { type: "string" }, example: stringify(example) };
  // The parts of a form with a file in it are no JSON.
  const isShown = jsonTypes.test(type) || textTypes.test(type) || (formTypes.test(type) && !holdsBytes(written));
  return { schema: components.refer(written), ...(isShown ? { example } : {}) };
}

const holdsBytes = (schema: TSchema): boolean => JSON.stringify(schema).includes('"format":"binary"');

/** Media type → shape of an answer. Of a stream it is that of the data of one event. */
export function answerContent(schema: TSchema, components: Components): Record<string, Content> {
  const json = withoutMedia(schema);
  const streamed = streamedBy(schema);
  const others = mediaTypesOf(schema).map((type) => [
    type,
    streamed === null ? shapeOf(type) : { schema: components.refer(streamed) },
  ]);
  return {
    ...Object.fromEntries(others),
    // Of what a handler answers as a `Response` of JSON as well, the shape is the same.
    ...(json === null ? {} : { "application/json": { schema: components.refer(json), example: exampleOf(json) } }),
  };
}

const shapeOf = (type: string): Content => {
  if (jsonTypes.test(type)) return {};
  return { schema: textTypes.test(type) ? { type: "string" } : bytes };
};
