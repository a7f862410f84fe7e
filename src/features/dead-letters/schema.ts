/** Dead letters on the wire (docs/reference/dead-letters.md). */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

const line = {
  id: Type.String({ format: "uuid" }),
  tenant_id: Text,
  kind: Type.String({
    description: "of the actor; empty where the entry of the mailbox was damaged, which is not sent again",
    examples: ["execution"],
  }),
  key: Type.String({ description: "the actor's" }),
  message: Type.String({ description: "its type", examples: ["iteration_finished"] }),
  error: Type.String({ description: "why its turn failed" }),
  attempts: Type.Integer(),
  created_at: Time,
  replayed_at: Nullable(Time),
};
export const DeadLetterLine = Type.Object(line);
export type DeadLetterLine = Static<typeof DeadLetterLine>;

export const DeadLetterBody = Type.Object({
  ...line,
  body: Type.Unsafe<Static<typeof AnyJson>>({
    ...AnyJson,
    description: "of the message; what looks like a secret is `[redacted]`",
  }),
});

export const DeadLettersQuery = Type.Object({
  ...pagingQuery,
  tenant_id: Type.Optional(Type.String({ maxLength: 63, description: "of one tenant alone", examples: ["acme"] })),
  kind: Type.Optional(
    Type.String({ maxLength: 100, description: "of actors of one kind alone", examples: ["execution"] }),
  ),
  since: Type.Optional(
    Type.String({ description: "since this time (ISO 8601)", examples: ["2031-05-02T06:00:09.120Z"] }),
  ),
});

export const Replayed = Type.Object({ id: Type.String({ format: "uuid" }), status: Type.Literal("replayed") });

export const named = { DeadLetter: DeadLetterBody };
