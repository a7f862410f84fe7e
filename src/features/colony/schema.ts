/** The wire shapes of teams, their members and what they are about. */
import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";
import { Uuid, uuidParam } from "../../http/route.ts";

const words = <T extends string>(...known: readonly T[]) => Type.Union(known.map((word) => Type.Literal(word)));

const Role = words("owner", "admin", "member");
const GivenRole = words("admin", "member");

/** Routes of a colony take the team that they are about by the query as well. */
const inColony = {
  team_id: Type.Optional(Type.String({ maxLength: 64, description: "A team, where X-Svc-Team names none" })),
};
export const ColonyQuery = Type.Object(inColony);
export const ColonyListQuery = Type.Object({ ...inColony, ...pagingQuery });
export const TeamListQuery = Type.Object(pagingQuery);

export const TeamBody = Type.Object({
  /** Of a team its UUID, of an enterprise's tenant its slug. */
  id: Type.String(),
  slug: Type.String(),
  display_name: Type.String(),
  tier: words("free", "pro", "business", "enterprise"),
  tenant_id: Type.String(),
  role: Nullable(Role),
  status: words("active", "suspended", "plan_suspended"),
  member_count: Type.Integer(),
  created_at: Time,
});
export type TeamBody = Static<typeof TeamBody>;
export const TeamMade = Type.Composite([Type.Object({ team: TeamBody }), TeamBody]);

/** Printable text of one line. */
const Name = Type.String({ minLength: 1, maxLength: 128, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" });
export const NewTeam = Type.Object(
  { display_name: Name, tier: Type.Optional(words("business", "enterprise")) },
  { examples: [{ display_name: "Payments", tier: "business" }] },
);
export type NewTeam = Static<typeof NewTeam>;
export const TeamId = Type.Object({ id: uuidParam() });

export const MemberBody = Type.Object({
  /** The subject; of one who is invited the invitation's id. */
  id: Type.String(),
  user_id: Type.String(),
  membership_id: Nullable(Uuid),
  realm: Nullable(Type.String()),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: Role,
  status: words("active", "invited", "revoked"),
  invited_at: Nullable(Time),
  joined_at: Nullable(Time),
});
export type MemberBody = Static<typeof MemberBody>;
/** A membership's id, a subject, or the id of an open invitation. */
export const MemberId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 255 }) });
export const MemberRemoved = Type.Object({ status: words("removed", "cancelled"), id: Type.String() });

const Address = Type.String({
  minLength: 3,
  maxLength: 320,
  pattern: '^[^\\s@<>,;:"\\u0000-\\u001f]+@[^\\s@<>,;:"\\u0000-\\u001f]+$',
});
export const NewMember = Type.Object(
  { email: Address, role: Type.Optional(GivenRole) },
  { examples: [{ email: "bob@example.com", role: "member" }] },
);
export const MemberInvited = Type.Composite([
  MemberBody,
  Type.Object({ token: Type.String(), accept_url: Type.String(), expires_at: Time }),
]);
export const RoleOf = Type.Object(
  { user_id: Type.String({ minLength: 1, maxLength: 255 }), role: Role },
  { examples: [{ user_id: "7c1e0d0c-1c3e-4c6e-9d36-0f0f6a1b2c3d", role: "admin" }] },
);
export const NewRole = Type.Object({ role: Role }, { examples: [{ role: "admin" }] });

const invitation = {
  id: Uuid,
  team_id: Type.String(),
  invitee_email: Type.String(),
  role: GivenRole,
  status: words("pending", "accepted", "cancelled", "replaced", "expired"),
  expires_at: Time,
} satisfies TProperties;
export const InvitationBody = Type.Object({ ...invitation, created_at: Time });
export type InvitationBody = Static<typeof InvitationBody>;
const IssuedInvitation = Type.Object({ ...invitation, token: Type.String() });
export const InvitationMade = Type.Object({ invitation: IssuedInvitation });
export const InvitationQuery = Type.Object({
  ...ColonyListQuery.properties,
  status: Type.Optional(invitation.status),
});
export const NewInvitation = Type.Object(
  { invitee_email: Type.Optional(Address), email: Type.Optional(Address), role: Type.Optional(GivenRole) },
  { examples: [{ invitee_email: "bob@example.com", role: "member" }] },
);
export const InvitationId = Type.Object({ id: uuidParam() });
export const InvitationCancelled = Type.Object({ status: Type.Literal("cancelled"), id: Uuid });
/** What a mistyped one is, is no invitation's token: 404, as an unknown one. */
export const InvitationToken = Type.Object({ token: Type.String({ minLength: 1, maxLength: 1024 }) });
export const Accepted = Type.Object({ team: TeamBody, member: MemberBody });

export const SamlBody = Type.Object({
  configured: Type.Boolean(),
  entity_id: Type.String(),
  sso_url: Type.String(),
  certificate: Type.String(),
  certificate_valid: Type.Boolean(),
  provisioning: words("none", "manual", "pending", "applied", "failed"),
  updated_at: Nullable(Time),
});
export type SamlBody = Static<typeof SamlBody>;
const exampleCertificate = [
  "-----BEGIN CERTIFICATE-----",
  "MIIBijCCAS+gAwIBAgIUJpn4zk28JTaQndeE9Ibhhy9218UwCgYIKoZIzj0EAwIw",
  "GTEXMBUGA1UEAwwOaWQuZXhhbXBsZS5jb20wIBcNMjYxMTI0MTYxOTAwWhgPMjEy",
  "NjEwMzExNjE5MDBaMBkxFzAVBgNVBAMMDmlkLmV4YW1wbGUuY29tMFkwEwYHKoZI",
  "zj0CAQYIKoZIzj0DAQcDQgAEcMB5U3z+0paYnC6oBH+cbt9HnMV6bcRMxegby6QZ",
  "C5gFtjuek9lp6jbYkcKCfYzlFetUpboAWpzO6/9uHMK/HqNTMFEwHQYDVR0OBBYE",
  "FPS7is9gLLLaASts2th09rLWjKPPMB8GA1UdIwQYMBaAFPS7is9gLLLaASts2th0",
  "9rLWjKPPMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAOswURcT",
  "x1hLxzk9b2fyBA37BLUS2ipbx5FUVTihqKuaAiEAtkpB1VL7rXLEgWWE91pjhVzA",
  "eNZpOy7W0uC+wP1FLn8=",
  "-----END CERTIFICATE-----",
].join("\n");
export const NewSaml = Type.Object(
  {
    entity_id: Type.String({ minLength: 1, maxLength: 1024, pattern: "^\\S+$" }),
    sso_url: Type.String({ minLength: 1, maxLength: 2048 }),
    certificate: Type.String({ minLength: 1, maxLength: 16_384 }),
  },
  {
    examples: [
      {
        entity_id: "https://id.example.com/metadata",
        sso_url: "https://id.example.com/sso",
        certificate: exampleCertificate,
      },
    ],
  },
);
export type NewSaml = Static<typeof NewSaml>;

/** `limit` -1: any number. */
const Used = Type.Object({ used: Type.Number(), limit: Type.Integer() });
export const SubscriptionBody = Type.Object({
  tier: words("free", "pro", "business", "enterprise"),
  status: Type.String(),
  features: Type.Array(Type.String()),
  quota_usage: Type.Object({ max_agents: Used, max_concurrent_executions: Used, max_storage_gb: Used }),
  members_used: Type.Integer(),
  members_limit: Nullable(Type.Integer()),
  seat_count: Type.Integer(),
  current_period_end: Nullable(Time),
  is_team: Type.Boolean(),
});
export type SubscriptionBody = Static<typeof SubscriptionBody>;

/** By the names that the API document gives them. */
export const named = {
  Team: TeamBody,
  TeamMade,
  NewTeam,
  Member: MemberBody,
  NewMember,
  MemberInvited,
  NewMemberRole: NewRole,
  RoleOfMember: RoleOf,
  Invitation: InvitationBody,
  IssuedInvitation,
  NewInvitation,
  Saml: SamlBody,
  NewSaml,
  ColonySubscription: SubscriptionBody,
};
