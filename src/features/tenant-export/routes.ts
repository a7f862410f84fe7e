/** The route of exports. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { media } from "../../http/answer.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../audit/port.ts";
import { SlugParam } from "../tenants/schema.ts";
import type { TenantExports } from "./service.ts";

const mediaType = "application/x-tar";
/** Exports of this node at once: each keeps a connection to the database busy. */
const mostAtOnce = 2;
/** A reader who takes nothing for so long is gone, ms. */
const stalledMs = 300_000;

export interface ExportRoutesOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly exports: TenantExports;
  readonly tenants: Pick<Tenants, "find">;
}

export function exportRoutes({ sql, audit, exports, tenants }: ExportRoutesOptions): readonly Route[] {
  let underWay = 0;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/admin/tenants/:slug/export",
      tag: "tenants",
      summary: "All that is kept of a tenant, as an archive; without values of secrets, credentials and keys",
      operatorsOnly: "admin",
      scope: "tenant:provision",
      params: SlugParam,
      responses: { 200: media(mediaType) },
      refusals: ["tenant_not_found", "tenant_purged"],
      async handler(call) {
        const { slug } = call.params;
        const tenant = await tenants.find(slug);
        if (tenant === null) throw new Problem("tenant_not_found", "There is no such tenant");
        if (tenant.isPurged) throw new Problem("tenant_purged", "The tenant was erased");
        if (underWay >= mostAtOnce) {
          const message = `This node makes ${mostAtOnce} exports already`;
          throw new Problem("service_unavailable", message, {}, { "Retry-After": "30" });
        }
        const headers = {
          "Content-Type": mediaType,
          "Content-Disposition": `attachment; filename="${slug}.tar"`,
          "Cache-Control": "no-store",
        };
        if (call.request.method === "HEAD") return new Response(null, { headers });
        underWay += 1;
        try {
          await sql.begin((tx) =>
            audit.append(tx, auditedBy(call), {
              tenant: slug,
              action: "tenant.exported",
              target: { type: "tenant", id: slug },
              details: {},
            }),
          );
        } catch (error) {
          underWay -= 1;
          throw error;
        }
        // Lines of a kind are written before they are sent: no byte goes meanwhile.
        call.server?.timeout(call.request, 0);
        const body = streamed(AbortSignal.any([call.signal, call.stopping]), exports, slug, () => {
          underWay -= 1;
        });
        return new Response(body, { headers });
      },
    }),
  ];
}

/** @param ended called once, when nothing more is read */
function streamed(
  callers: AbortSignal,
  exports: TenantExports,
  tenant: string,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const ending = new AbortController();
  const bytes = exports.of(tenant, AbortSignal.any([callers, ending.signal]));
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isOver = false;
  async function end(): Promise<void> {
    if (isOver) return;
    isOver = true;
    if (timer !== null) clearTimeout(timer);
    ending.abort();
    await bytes.return(undefined).catch(() => {});
    ended();
  }
  return new ReadableStream(
    {
      async pull(controller) {
        if (timer !== null) clearTimeout(timer);
        try {
          const { done, value } = await bytes.next();
          // What was broken off must not look like a whole archive.
          if (callers.aborted || ending.signal.aborted) throw new Error("The export was broken off");
          if (done !== true) {
            controller.enqueue(value);
            timer = setTimeout(() => void end(), stalledMs);
            return;
          }
          await end();
          controller.close();
        } catch (error) {
          await end();
          controller.error(error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
