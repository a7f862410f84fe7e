/** The states that wait for something, or call tools, hosts and services outside. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../kernel/json.ts";
import { Nullable } from "../../kernel/schema.ts";
import { common, oneOf, Template } from "./parts.ts";

export const WaitState = Type.Object({
  kind: Type.Literal("Wait"),
  ...common,
  for: Type.Union([
    /** Seconds, or a template of them. */
    Type.Object({ what: Type.Literal("seconds"), seconds: Template }),
    /** A time as ISO 8601, or a template of one. */
    Type.Object({ what: Type.Literal("until"), until: Template }),
    Type.Object({ what: Type.Literal("signal"), signal: Type.String() }),
    Type.Object({
      what: Type.Literal("stimulus"),
      source: Type.String(),
      /** A path of the payload, such as `order.id`, whose value equals the rendered `equals`; both or neither are null. */
      key: Nullable(Type.String()),
      equals: Nullable(Template),
      /** An expression over `payload` and `headers`. */
      match: Nullable(Type.String()),
    }),
  ]),
});
export type WaitState = Static<typeof WaitState>;

export const ToolState = Type.Object({
  kind: Type.Literal("Tool"),
  ...common,
  tool: Template,
  /** Templates in every text, at any depth; a sole `{{path}}` keeps the value's type. */
  arguments: AnyJson,
});
export type ToolState = Static<typeof ToolState>;

export const FleetState = Type.Object({
  kind: Type.Literal("Fleet"),
  ...common,
  /** As the body of a fleet dispatch has them; templates in every text, at any depth. */
  target: AnyJson,
  tool: Nullable(Template),
  args: AnyJson,
  /** In place of a tool. */
  command: AnyJson,
  policy: AnyJson,
});
export type FleetState = Static<typeof FleetState>;

export const HttpState = Type.Object({
  kind: Type.Literal("Http"),
  ...common,
  url: Template,
  method: oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
  /** Values that begin with `secret:` are references of the manifest. */
  headers: Type.Record(Type.String(), Template),
  /** Null: none. A text is sent as it is rendered, other values as JSON. */
  body: AnyJson,
  expect: Type.Object({
    /** Empty: 200 to 299. */
    status: Type.Array(Type.Integer({ minimum: 100, maximum: 599 })),
    /** JSON Schema of the body; null: any. */
    schema: AnyJson,
  }),
});
export type HttpState = Static<typeof HttpState>;
