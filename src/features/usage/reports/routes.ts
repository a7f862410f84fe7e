/** The route of usage. */
import { Type } from "@sinclair/typebox";
import { iso } from "../../../../actors/kernel/time.ts";
import { media } from "../../../http/answer.ts";
import { pageOf } from "../../../http/paging.ts";
import { preferredToJson } from "../../../http/preferences.ts";
import { defineRoute, type Route } from "../../../http/route.ts";
import { periodOf } from "./period.ts";
import { UsageQuery, UsageReport } from "./schema.ts";
import type { Asked, Usage } from "./service.ts";

const csv = "text/csv";

export interface UsageRoutesOptions {
  readonly usage: Usage;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function usageRoutes({ usage, now }: UsageRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/usage",
      summary: "What the tenant has used, by day, agent, model, workflow or tool; as CSV where `Accept` asks for it",
      scope: "usage:read",
      query: UsageQuery,
      responses: { 200: Type.Union([UsageReport, media(csv)]) },
      handler: async ({ tenant, identity, query, request }) => {
        const { group_by: grouping = "day" } = query;
        const span = periodOf(query, now());
        const asked: Asked = { tenant, span, grouping, showsCost: identity.scopes.has("billing:read") };
        const page = pageOf(query, 2);
        if (preferredToJson(request.headers.get("accept"), [csv]) !== null) return streamed(usage, asked);
        const report = await usage.page(asked, page);
        return { ...report, from: iso(span.from), to: iso(span.to), group_by: grouping };
      },
    }),
  ];
}

/** Reads on as fast as the client takes it. What goes wrong before the first row is a refusal still. */
async function streamed(usage: Usage, asked: Asked): Promise<Response> {
  const pieces = usage.csv(asked);
  const [header, first] = [await pieces.next(), await pieces.next()];
  const ready = [header, first];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = ready.shift() ?? (await pieces.next());
        if (piece.done === true) controller.close();
        else controller.enqueue(Buffer.from(piece.value));
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "Content-Type": `${csv}; charset=utf-8`,
      "Content-Disposition": 'attachment; filename="usage.csv"',
      "Cache-Control": "no-store",
    },
  });
}
