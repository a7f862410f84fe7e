/** Shapes of people on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";
import { uuidParam } from "../../http/route.ts";

const addressForm = '^[^\\s@<>,;:"\\x00-\\x1f\\x7f]{1,64}@[^\\s@<>,;:"\\x00-\\x1f\\x7f]{1,255}$';
const address = new RegExp(addressForm, "u");

/** Whether a text is one e-mail address. */
export const isAddress = (text: string): boolean => address.test(text);

const Status = Type.Union([
  Type.Literal("invited"),
  Type.Literal("active"),
  Type.Literal("locked"),
  Type.Literal("disabled"),
]);
const Role = Type.Union([Type.Literal("admin"), Type.Literal("operator"), Type.Literal("readonly")]);
const Name = Type.String({ minLength: 1, maxLength: 128 });
const DateTime = Type.String({ format: "date-time" });

const members = {
  id: Type.String({ format: "uuid" }),
  user_id: Type.String({ format: "uuid", description: "The subject of the person's tokens; equal to id" }),
  realm: Text,
  email: Text,
  email_verified: Type.Boolean(),
  name: Nullable(Text),
  role: Nullable(Text),
  status: Status,
  totp: Type.Boolean({ description: "Whether an authenticator is set up" }),
  last_sign_in_at: Nullable(DateTime),
  created_at: DateTime,
};
export const PersonBody = Type.Object(members);
export type PersonBody = Static<typeof PersonBody>;

/** With the link, which is told once where no mail is sent. */
export const InvitedBody = Type.Object({ ...members, accept_url: Nullable(Text) });

const realm = Type.Optional(
  Type.String({ maxLength: 80, description: "svc-system (default) or svc-consumer; of platform operators" }),
);
export const RealmQuery = Type.Object({ realm });
export const ListQuery = Type.Object({
  ...pagingQuery,
  realm,
  status: Type.Optional(Status),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Part of the address or the name" })),
});
export const PersonId = Type.Object({ id: uuidParam() });

export const InviteBody = Type.Object(
  {
    email: Type.String({ maxLength: 320, pattern: addressForm }),
    name: Type.Optional(Name),
    role: Type.Optional(Role),
  },
  { examples: [{ email: "ann@example.com", name: "Ann", role: "operator" }] },
);
export type InviteBody = Static<typeof InviteBody>;

export const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    role: Type.Optional(Role),
    status: Type.Optional(Type.Union([Type.Literal("active"), Type.Literal("disabled")])),
    unlock: Type.Optional(Type.Boolean()),
  },
  { examples: [{ status: "disabled" }] },
);
export type ChangeBody = Static<typeof ChangeBody>;

export const ResetBody = Type.Object(
  {
    totp: Type.Optional(Type.Boolean({ default: false, description: "Whether the authenticator is set up anew too" })),
  },
  { examples: [{ totp: false }] },
);
export const ResetSentBody = Type.Object({ status: Type.Literal("reset_sent"), reset_url: Nullable(Text) });
export const DeletedBody = Type.Object({ status: Type.Literal("deleted"), id: Text });

/** By the names that the API document gives them. */
export const named = {
  Person: PersonBody,
  InvitedPerson: InvitedBody,
  NewPerson: InviteBody,
  PersonChange: ChangeBody,
  PersonReset: ResetBody,
};
