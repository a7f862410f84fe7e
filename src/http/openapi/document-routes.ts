/** Where the API document is read, as data and as a page, and the JSON Schemas of what clients write. */
import { Type } from "@sinclair/typebox";
import { type Json, JsonObject } from "../../../actors/kernel/json.ts";
import { definePublicRoute, media, type Route, reply } from "../route.ts";
import { docsPage } from "./docs-page.ts";
import { openApiDocument } from "./openapi.ts";

/** `/openapi.json` and `/docs`, describing `routes`. */
export function documentRoutes(
  routes: readonly Route[],
  info: { readonly version: string; readonly publicUrl: string },
): Route[] {
  const document = openApiDocument(routes, info);
  const page = docsPage(document);
  return [
    definePublicRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      hidden: true,
      responses: { 200: Type.Unknown() },
      handler: () => document,
    }),
    definePublicRoute({
      method: "GET",
      path: "/docs",
      summary: "This document, for people",
      hidden: true,
      responses: { 200: media("text/html") },
      handler: () =>
        new Response(page, {
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
