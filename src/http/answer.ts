/** What a handler may answer with, and what a route declares of it. */
import { KindGuard, type Static, type TSchema, Type } from "@sinclair/typebox";

/** Status → schema of the answer: of a JSON body, or `media(…)`, or a union of both. */
export type Responses = Readonly<Record<number, TSchema>>;

/** An answer other than a plain 200. */
export class Reply<Status extends number = number, Body = unknown> {
  constructor(
    readonly status: Status,
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** An answer of this status, with a JSON body and further headers. */
export function reply<Status extends number, const Body>(
  status: Status,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): Reply<Status, Body> {
  return new Reply(status, body, headers);
}

/** A body that is JSON text already. `Body` is what the text holds; the caller vouches for it. */
export class JsonText<out Body> {
  /** For the compiler only: never set. */
  declare readonly holds?: Body;
  constructor(readonly text: string) {}
}

/** A body as it is sent and stored. */
export const textOfBody = (body: unknown): string => (body instanceof JsonText ? body.text : JSON.stringify(body));

/** The schema of an answer that is not JSON: the handler returns it as a `Response` with one of these media types. */
export const media = (...types: readonly string[]) => Type.Unsafe<Response>({ type: "string", "x-media": types });

/** The media types that an answer of this schema may have beside JSON. */
export const mediaTypesOf = (schema: TSchema): readonly string[] =>
  optionsOf(schema).flatMap((option): readonly string[] => option["x-media"] ?? []);

/** The JSON part of an answer's schema; null when it has none. */
export function withoutMedia(schema: TSchema): TSchema | null {
  const options = optionsOf(schema);
  const json = options.filter((option) => option["x-media"] === undefined);
  if (json.length === options.length) return schema;
  return json.length === 0 ? null : Type.Union(json);
}

const optionsOf = (schema: TSchema): readonly TSchema[] =>
  KindGuard.IsUnion(schema) ? schema.anyOf.flatMap(optionsOf) : [schema];

/** The schema of an answer by `EventStreams.open`. @param event the data of one event */
export const eventStream = (event: TSchema) =>
  Type.Unsafe<Response>({ type: "string", "x-media": ["text/event-stream"], "x-event": event });

/** What a stream's events carry; null for an answer that is no stream. */
export const streamedBy = (schema: TSchema): TSchema | null =>
  optionsOf(schema).find((option) => option["x-event"] !== undefined)?.["x-event"] ?? null;

/** Data as it may be sent: what the schema's type says, and no need to be mutable. */
type Sendable<T> = T extends readonly (infer Item)[]
  ? readonly Sendable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Sendable<T[Name]> }
    : T;

type Body<S extends TSchema> = Sendable<Exclude<Static<S>, Response>>;
type Sent<S extends TSchema> = [Body<S>] extends [never] ? never : Body<S> | JsonText<Body<S>>;

/** What a handler may return: the body of a 200, a `Reply` of a declared status, a `Response` where media are declared. */
export type Answer<R extends Responses> = {
  [Status in keyof R & number]:
    | (Status extends 200 ? Sent<R[Status]> : never)
    | Reply<Status, Sent<R[Status]>>
    | Extract<Static<R[Status]>, Response>;
}[keyof R & number];
