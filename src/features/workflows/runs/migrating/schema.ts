/** The wire shapes of migrations. */
import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../../../../actors/kernel/schema.ts";
import { MigrateReply } from "../../../../../actors/workflow/run/messages.ts";

/** Runs of one request. */
export const mostRuns = 1_000;

export const MigrateBody = Type.Object(
  {
    workflow: Type.String({ minLength: 1, maxLength: 256, description: "Name or id" }),
    to_version: Type.String({ minLength: 1, maxLength: 256 }),
    filter: Type.Optional(
      Type.Object({
        current_state: Type.Optional(Type.String({ maxLength: 256 })),
        started_before: Type.Optional(Type.String({ format: "date-time" })),
        execution_ids: Type.Optional(Type.Array(Type.String({ format: "uuid" }), { maxItems: mostRuns })),
      }),
    ),
  },
  { examples: [{ workflow: "release-notes", to_version: "1.1.0", filter: { current_state: "REVIEW" } }] },
);
export type MigrateBody = Static<typeof MigrateBody>;

export const Migrated = Type.Object({
  /** Runs of the filter, at most 1,000: the newest ones. */
  matched: Type.Integer(),
  migrated: Type.Array(Text),
  refused: Type.Array(Type.Object({ execution_id: Text, code: MigrateReply.anyOf[1].properties.code, message: Text })),
});
export type Migrated = Static<typeof Migrated>;
