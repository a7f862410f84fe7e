/** A request of an Http state to a service outside. */
import { type Static, Type } from "@sinclair/typebox";
import { defineActivity, type Outcome, outcomeOf } from "../../../kernel/activity.ts";
import { AnyJson } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";

/** One request, rendered already but for its secrets. */
export const HttpCall = Type.Object({
  url: Text,
  /** The addresses off the open internet that the manifest itself writes. */
  listed: Type.Array(Text),
  method: Text,
  headers: Type.Record(Text, Text),
  /** Those of their names that are references of the manifest, to be resolved at the call. */
  secrets: Type.Array(Text),
  /** Null: none. */
  body: Nullable(Text),
  workflow_name: Text,
  /** As a run is named to people. */
  run_id: Text,
  idempotency_key: Text,
  timeout_ms: Type.Integer({ minimum: 1 }),
  expect: Type.Object({ status: Type.Array(Type.Integer()), schema: AnyJson }),
});
export type HttpCall = Static<typeof HttpCall>;

/** What came back; no secret of the request stands in it. */
export const HttpAnswer = Type.Object({
  /** Null: there was no answer. */
  http_status: Nullable(Type.Integer()),
  headers: Type.Record(Text, Text),
  /** JSON where the answer says that it is, else text; bytes that are no text in base64. */
  body: AnyJson,
  duration_ms: Type.Integer(),
  /** `unexpected_response`, `response_too_large`, `address_blocked`, `timeout`, …; null: it is as expected. */
  error: Nullable(Text),
  /** Of the error, for people. */
  message: Nullable(Text),
});
export type HttpAnswer = Static<typeof HttpAnswer>;

/** Outcome: `http_answered`. It succeeds for every answer of the service; every attempt carries the same `Idempotency-Key`. */
export const httpCall = defineActivity({ name: "workflow.http", input: HttpCall, output: HttpAnswer });
export type HttpAnswered = Outcome<typeof httpCall>;

export const httpMessages = { http_answered: message({ body: outcomeOf(httpCall) }) };
