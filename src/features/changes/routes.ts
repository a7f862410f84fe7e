/** The route of the changes of a tenant's records. */
import { type ChangeType, changeTypes, readScopes } from "../../../actors/change/change.ts";
import type { Identity } from "../../../actors/identity/identity.ts";
import { notOneOf } from "../../../actors/kernel/nearest.ts";
import { invalidAt } from "../../../actors/kernel/problem.ts";
import { eventStream } from "../../http/answer.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { EventStreams } from "../../http/streams/sse.ts";
import type { Feeds } from "./feeds.ts";
import { ChangeEvent, ChangesHeaders, ChangesQuery } from "./schema.ts";
import { type Place, streamChanges } from "./stream.ts";

export interface ChangeRoutesOptions {
  readonly feeds: Pick<Feeds, "ready" | "follow" | "page">;
  readonly streams: EventStreams;
}

export const changeRoutes = ({ feeds, streams }: ChangeRoutesOptions): readonly Route[] => [
  defineRoute({
    method: "GET",
    path: "/v1/events",
    summary: "What changes among the tenant's records, of the types that the caller may read",
    sse: true,
    query: ChangesQuery,
    headers: ChangesHeaders,
    responses: { 200: eventStream(ChangeEvent) },
    handler: async (call) => {
      const { query, request, identity, tenant } = call;
      const types = typesOf(query.types ?? null, identity);
      const after = placeOf(request.headers.get("last-event-id") ?? query.from ?? null);
      const ready = await feeds.ready(tenant);
      return streams.open(call, tenant, (stream) => streamChanges(feeds, { tenant, types, ready, after }, stream));
    },
  }),
];

/** @throws Problem 422 for a type that there is not */
function typesOf(asked: string | null, { scopes }: Pick<Identity, "scopes">): ReadonlySet<ChangeType> {
  const names = asked?.split(",").map((name) => name.trim()) ?? changeTypes;
  const unknown = names.find((name) => !changeTypes.some((type) => type === name));
  if (unknown !== undefined) throw invalidAt("validation_failed", "types", notOneOf(unknown, changeTypes));
  return new Set(changeTypes.filter((type) => names.includes(type) && scopes.has(readScopes[type])));
}

/** Where a client goes on; null: it begins. */
function placeOf(id: string | null): Place | null {
  if (id === null || id.trim() === "") return null;
  const number = /^\d{1,16}$/.test(id.trim()) ? Number(id) : Number.NaN;
  return Number.isSafeInteger(number) ? number : "unknown";
}
