/** The documentation at `/docs`: pages, files and scripts, all of them the node's own. */
import { type Static, Type } from "@sinclair/typebox";
import { Problem } from "../../../actors/kernel/problem.ts";
import { media } from "../../http/answer.ts";
import { definePublicRoute, type Route } from "../../http/route.ts";
import { answerFile, fileResponses } from "../../http/static-file.ts";
import { assetTypes } from "./site/assets.ts";
import { type Found, fileTypes, type Site } from "./site/site.ts";

const Rest = Type.Object({ "*": Type.String({ maxLength: 400 }) });

/** What pages and their files are, without character sets. */
const mediaTypes = [
  ...new Set(
    ["text/html", ...Object.values(assetTypes), ...Object.values(fileTypes)].map((type) => type.split(";")[0] ?? ""),
  ),
];

/** Nothing inline and nothing from elsewhere. */
const strict = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A picture may style itself, and does nothing else, also when it is opened by itself. */
const inert = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'";

const headers: Readonly<Record<Found["kind"], Readonly<Record<string, string>>>> = {
  page: { "Content-Security-Policy": strict, "Cache-Control": "no-cache" },
  reference: { "Content-Security-Policy": strict, "Cache-Control": "no-cache" },
  // Its name changes with its content.
  asset: { "Content-Security-Policy": inert, "Cache-Control": "public, max-age=31536000, immutable" },
  file: { "Content-Security-Policy": inert, "Cache-Control": "no-cache" },
};

export function documentationRoutes(site: Site): Route[] {
  return [
    definePublicRoute({
      method: "GET",
      path: "/docs",
      summary: "The documentation",
      hidden: true,
      responses: { ...fileResponses("text/html"), 308: media() },
      // With a slash, since addresses of pages are relative; itself relative, so that a proxy may serve it under a path.
      handler: ({ request, url }) => (url.pathname.endsWith("/") ? page("", request) : moved(`docs/${url.search}`)),
    }),
    definePublicRoute({
      method: "GET",
      path: "/docs/*",
      summary: "A page of the documentation, or a file of it",
      hidden: true,
      params: Rest,
      responses: { ...fileResponses(...mediaTypes), 308: media(), 404: media("text/html") },
      refusals: ["not_found"],
      handler: ({ params, request }) => page((params as Static<typeof Rest>)["*"], request),
    }),
  ];

  async function page(address: string, request: Request): Promise<Response> {
    const found = await site.at(address);
    if (found !== null) return answerFile(request, found.file, headers[found.kind]);
    const other = otherAddress(site, address);
    if (other !== null) return moved(other);
    if (!(request.headers.get("accept") ?? "").includes("text/html"))
      throw new Problem("not_found", "The documentation has no such page");
    return answerFile(request, await site.missing(address), { ...headers.page, "Cache-Control": "no-store" }, 404);
  }
}

const moved = (to: string): Response => new Response(null, { status: 308, headers: { Location: to } });

/** Where a page is that was asked for with a slash too many or too few; relative. */
function otherAddress({ addresses }: Site, address: string): string | null {
  const last = address.replace(/\/$/, "").split("/").at(-1) ?? "";
  if (address.endsWith("/")) return addresses.has(address.slice(0, -1)) ? `../${last}` : null;
  return addresses.has(`${address}/`) ? `${last}/` : null;
}
