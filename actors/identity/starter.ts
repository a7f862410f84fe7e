/**
 * Who set an execution or a workflow run going, kept with it: its management tools act for this identity with what it
 * was permitted then and still is (docs/reference/management-tools.md). Pure.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../kernel/schema.ts";
import type { Identity } from "./identity.ts";
import { scopesWithin } from "./scopes.ts";

const literals = <T extends string>(...words: readonly T[]) => Type.Union(words.map((word) => Type.Literal(word)));

/** As states and records keep it. */
export const Starter = Type.Object({
  /** That vouches for `sub`. */
  realm: Text,
  kind: literals<Identity["kind"]>("consumer", "operator", "service_account", "tenant_user"),
  sub: Text,
  role: Nullable(literals<NonNullable<Identity["role"]>>("readonly", "operator", "admin")),
  /** In the tenant that it was started in. */
  membership: Nullable(literals<NonNullable<Identity["membership"]>>("owner", "admin", "member")),
  /** Of the API key that it was started with; null: a token. */
  key_id: Nullable(Text),
  /** Captured. Absent: all that role and membership give, which is the usual case and need not be kept. */
  scopes: Type.Optional(Type.Array(Text)),
});
export type Starter = Static<typeof Starter>;

/** The same as records show it: with its scopes in any case. */
export const ShownStarter = Type.Composite([Type.Omit(Starter, ["scopes"]), Type.Object({ scopes: Type.Array(Text) })]);
export type ShownStarter = Static<typeof ShownStarter>;

type Captured = Pick<Identity, "realm" | "kind" | "userId" | "role" | "membership" | "keyId" | "scopes">;

/** The caller, as far as what they start keeps them. */
export function starterOf(identity: Captured): Starter {
  const { realm, kind, userId: sub, role, membership, keyId: key_id, scopes } = identity;
  const usual = scopesWithin(identity, null);
  const isUsual = usual === scopes || (usual.size === scopes.size && usual.isSubsetOf(scopes));
  return { realm, kind, sub, role, membership, key_id, ...(isUsual ? {} : { scopes: [...scopes].sort() }) };
}

/** What the starter was permitted when it was captured. */
export function capturedScopes({ kind, role, membership, scopes }: Starter): ReadonlySet<string> {
  return scopes === undefined ? scopesWithin({ kind, role, membership }, null) : new Set(scopes);
}

/** By kind, role and membership: records of a page share one list. */
const usualLists = new Map<string, readonly string[]>();

export function shownStarter(starter: Starter | undefined): ShownStarter | null {
  if (starter === undefined) return null;
  const { kind, role, membership } = starter;
  const name = JSON.stringify([kind, role, membership]);
  const usual = usualLists.get(name) ?? [...scopesWithin({ kind, role, membership }, null)].sort();
  usualLists.set(name, usual);
  return { ...starter, scopes: [...(starter.scopes ?? usual)] };
}

/** As a header keeps it: nothing where no identity stands behind the start. */
export const startedBy = (starter: Starter | null | undefined): { starter?: Starter } =>
  starter ? { starter: { ...starter } } : {};

/**
 * The starter as it may act now: what was captured, as far as it is still held.
 * @param now the same identity as it stands; its scopes are those that it holds
 */
export function narrowedTo(starter: Starter, now: Identity): Identity {
  const captured = capturedScopes(starter);
  return { ...now, scopes: new Set([...now.scopes].filter((scope) => captured.has(scope))) };
}
