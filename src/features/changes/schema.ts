/** The stream of changes on the wire (docs/reference/events-stream.md). */
import { type Static, Type } from "@sinclair/typebox";
import { changeTypes } from "../../../actors/change/change.ts";
import { Text, Time } from "../../../actors/kernel/schema.ts";

export const ChangesQuery = Type.Object({
  types: Type.Optional(
    Type.String({
      maxLength: 200,
      description: `Which types of records, comma-separated: ${changeTypes.join(", ")}. All that the caller may read when absent`,
    }),
  ),
  from: Type.Optional(
    Type.String({ maxLength: 64, description: "Resumes behind the event of this id; the header Last-Event-ID wins" }),
  ),
});
export type ChangesQuery = Static<typeof ChangesQuery>;

export const ChangesHeaders = Type.Object({
  "last-event-id": Type.Optional(Type.String({ description: "Resumes behind the event of this id" })),
});

export const ChangeEvent = Type.Object({
  type: Type.Union(changeTypes.map((type) => Type.Literal(type))),
  id: Text,
  /** As the record's own routes show it; `deleted` of one that is no more. */
  status: Text,
  at: Time,
  /** Grows with each change of the record. */
  rev: Type.Integer(),
});
