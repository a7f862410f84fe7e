/** The wire shapes of secrets. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

/** The rest of the URL as it was sent: an encoded `/` is told from one that separates. */
export const SecretPath = Type.Object({
  "*": Type.String({ "x-raw": true, "x-code": "invalid_path", "x-message": "Invalid path", examples: ["db/password"] }),
});

export const SecretEntryBody = Type.Object({
  name: Type.String({ description: "The path" }),
  last_modified: Nullable(Time),
  size_bytes: Nullable(Type.Integer({ description: "Of the value, decoded" })),
  version: Nullable(Type.Integer()),
});

export const SecretBody = Type.Object({
  path: Type.String(),
  name: Type.String(),
  value: Type.String({ description: "In the encoding it was written with; of `data` its JSON" }),
  encoding: Type.Union([Type.Literal("plaintext"), Type.Literal("base64")]),
  data: Nullable(Type.Record(Type.String(), Type.String())),
  fields: Type.Array(Type.String(), { description: "Names of the values in `data`" }),
  version: Type.Integer(),
  created_at: Time,
  updated_at: Time,
});
export type SecretBody = Static<typeof SecretBody>;

export const WriteBody = Type.Object(
  {
    value: Type.Optional(Type.String()),
    encoding: Type.Optional(Type.Union([Type.Literal("plaintext"), Type.Literal("base64")])),
    data: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { examples: [{ value: "correct horse battery staple" }, { data: { user: "app", password: "correct horse" } }] },
);
export type WriteBody = Static<typeof WriteBody>;

export const WrittenBody = Type.Object({
  status: Type.Literal("written"),
  path: Type.String(),
  version: Type.Integer(),
  created_at: Time,
  updated_at: Time,
});

export const DeletedBody = Type.Object({ status: Type.Literal("deleted"), path: Type.String() });

export const ListQuery = Type.Object({
  ...pagingQuery,
  path_prefix: Type.Optional(
    Type.String({ maxLength: 1024, description: "Whole segments: `db` finds `db/password`, `d` does not" }),
  ),
});

export const WriteHeaders = Type.Object({
  "If-Match": Type.Optional(Type.String({ description: 'Only over this version, such as `"3"`; else 412' })),
  "If-None-Match": Type.Optional(Type.String({ description: "`*`: only where there is none yet; else 412" })),
});

/** By the names that the API document gives them. */
export const named = {
  Secret: SecretBody,
  SecretEntry: SecretEntryBody,
  NewSecret: WriteBody,
  SecretWritten: WrittenBody,
  DeletedByPath: DeletedBody,
};
