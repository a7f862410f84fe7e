/** Where the API document is read, as data and as a page, and the JSON Schemas of what clients write. */
import { Type } from "@sinclair/typebox";
import { type Json, JsonObject } from "../../../actors/kernel/json.ts";
import { media, reply } from "../answer.ts";
import { definePublicRoute, type Route } from "../route.ts";
import { docsPage } from "./docs-page.ts";
import { type DocumentInfo, type OpenApiDocument, openApiDocument } from "./openapi.ts";

/** `/openapi.json` and `/docs`, describing `routes`. */
export function documentRoutes(routes: readonly Route[], info: DocumentInfo): Route[] {
  // Made when the first reader asks: it takes longer than anything else at the start.
  let made: { readonly document: OpenApiDocument; readonly page: string } | null = null;
  const make = () => {
    if (made === null) {
      const document = openApiDocument(routes, info);
      made = { document, page: docsPage(document) };
    }
    return made;
  };
  return [
    definePublicRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      hidden: true,
      responses: { 200: Type.Unknown() },
      handler: () => make().document,
    }),
    definePublicRoute({
      method: "GET",
      path: "/",
      summary: "Where to read on",
      hidden: true,
      responses: { 302: Type.Object({ docs: Type.String(), openapi: Type.String() }) },
      // Relative, so that a proxy may serve the API under a path.
      handler: () => reply(302, { docs: "docs", openapi: "openapi.json" }, { Location: "docs" }),
    }),
    definePublicRoute({
      method: "GET",
      path: "/docs",
      summary: "This document, for people",
      hidden: true,
      responses: { 200: media("text/html") },
      handler: () =>
        new Response(make().page, {
          headers: {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
          },
        }),
    }),
  ];
}

/** A JSON Schema for editors and clients: anyone may read it, and caches may keep it for an hour. */
export const schemaRoute = (path: string, summary: string, schema: { readonly [keyword: string]: Json }): Route =>
  definePublicRoute({
    method: "GET",
    path,
    summary,
    responses: { 200: JsonObject },
    handler: () => reply(200, schema, { "Cache-Control": "public, max-age=3600" }),
  });
