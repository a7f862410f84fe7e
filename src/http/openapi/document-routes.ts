/** Where the API document is read, and the JSON Schemas of what clients write. */
import { Type } from "@sinclair/typebox";
import { type Json, JsonObject } from "../../../actors/kernel/json.ts";
import { reply } from "../answer.ts";
import { definePublicRoute, type Route } from "../route.ts";
import { answerFile, fileResponses, type StaticFile, staticFile } from "../static-file.ts";
import { type DocumentInfo, openApiDocument } from "./openapi.ts";

/**
 * `/openapi.json`, describing `routes`; and what the root says.
 * @param home where people begin: in development the console
 */
export function documentRoutes(routes: readonly Route[], info: DocumentInfo, home: "console/" | "docs/"): Route[] {
  // Made when the first reader asks: it takes longer than anything else at the start.
  let made: Promise<StaticFile> | null = null;
  return [
    definePublicRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      hidden: true,
      responses: fileResponses(),
      handler: async ({ request }) => {
        made ??= staticFile("application/json", JSON.stringify(openApiDocument(routes, info)));
        return answerFile(request, await made, { "Cache-Control": "no-cache" });
      },
    }),
    definePublicRoute({
      method: "GET",
      path: "/",
      summary: "Where to read on",
      hidden: true,
      responses: { 302: Type.Object({ docs: Type.String(), openapi: Type.String() }) },
      // Relative, so that a proxy may serve the API under a path.
      handler: () => reply(302, { docs: "docs/", openapi: "openapi.json" }, { Location: home }),
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
