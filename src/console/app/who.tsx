/** Who did something: a name where one is known, else the kind of caller and the short subject. */
import { useQuery } from "@tanstack/react-query";
import { answer } from "../../programs/client/client.ts";
import { wordsOf } from "../kit/values/status.tsx";
import { inert } from "../kit/values/text.tsx";
import { svc } from "./session/api.ts";
import { useCan, useMe } from "./session/session.ts";

interface WhoProps {
  /** As records have it: who called, and what is known of them. */
  readonly of: {
    readonly sub?: string | null | undefined;
    readonly email?: string | null | undefined;
    readonly kind?: string | null | undefined;
    /** The API key that was called with. */
    readonly key_id?: string | null | undefined;
  };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function Who({ of: { sub = null, email = null, kind = null, key_id = null } }: WhoProps) {
  const me = useMe();
  const name = useName(sub === me.user_id ? null : sub, email);
  const key = useKeyName(key_id);
  const said = sub !== null && sub === me.user_id ? "you" : name;
  return (
    <bdi
      title={[sub ?? email ?? "", key_id === null ? "" : `API key ${key_id}`].filter(Boolean).join(", ") || undefined}
    >
      {said === null ? unnamed(sub, kind) : inert(said)}
      {key_id !== null && ` with the key ${inert(key ?? `${key_id.slice(0, 8)}…`)}`}
    </bdi>
  );
}

function unnamed(sub: string | null, kind: string | null): string {
  const of = kind === null || kind === "" ? "" : wordsOf(kind);
  if (sub === null || sub === "") return of === "" ? "the service" : of;
  if (!uuid.test(sub)) return inert(sub);
  return `${of} ${sub.slice(0, 8)}…`.trim();
}

/** Of members of the tenant, and of the subjects of the development issuer. */
function useName(sub: string | null, email: string | null): string | null {
  const can = useCan();
  const isAsked = sub !== null && uuid.test(sub) && (email === null || email === "");
  const members = useQuery({
    queryKey: ["member", "names"],
    queryFn: () => answer(svc.GET("/v1/colony/members", { params: { query: { limit: 200 } } })),
    enabled: isAsked && can("colony:read"),
    staleTime: 60_000,
  });
  const config = useQuery({
    queryKey: ["sign-in", "config"],
    queryFn: () => answer(svc.GET("/v1/auth/config", { params: { query: {} } })),
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (email !== null && email !== "") return email;
  const member = members.data?.items.find(({ user_id }) => user_id === sub);
  if (member !== undefined) return (member.name ?? member.email) || null;
  return config.data?.subjects?.find((one) => one.sub === sub)?.name ?? null;
}

function useKeyName(id: string | null): string | null {
  const can = useCan();
  const { data } = useQuery({
    queryKey: ["api_key", "names"],
    queryFn: () => answer(svc.GET("/v1/api-keys", { params: { query: { limit: 200 } } })),
    enabled: id !== null && can("key:list"),
    staleTime: 60_000,
  });
  return data?.items.find((key) => key.id === id)?.name ?? null;
}
