/** Who is calling, as the caller reads it. */
import { Type } from "@sinclair/typebox";
import { roles, tiers } from "../../../actors/identity/identity.ts";
import { Nullable } from "../../../actors/kernel/schema.ts";

const oneOf = <T extends string>(values: readonly T[]) => Type.Union(values.map((value) => Type.Literal(value)));

export const Caller = Type.Object({
  user_id: Type.String({ description: "The subject, as records name it" }),
  email: Nullable(Type.String()),
  kind: oneOf(["consumer", "operator", "service_account", "tenant_user"]),
  realm: Type.String(),
  role: Nullable(oneOf(roles)),
  membership: Nullable(oneOf(["owner", "admin", "member"])),
  tier: Nullable(oneOf(tiers)),
  tenant_id: Type.String({ description: "The tenant that this request acts in" }),
  home_tenant: Type.String(),
  api_key_id: Nullable(Type.String()),
  operator: Type.Boolean({ description: "Whether the caller belongs to the platform" }),
  scopes: Type.Array(Type.String(), { description: "Effective scopes, implied ones included, sorted" }),
});
