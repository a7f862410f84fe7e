/** Samples that a first page offers by one click: what to deploy, and the requests that set it to work. */
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { Text } from "../../../actors/kernel/schema.ts";
import { reply } from "../../http/answer.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute } from "../../http/route.ts";
import { defineFeature } from "../feature.ts";
import { samples as list } from "./list.ts";

const Sample = Type.Object({
  id: Text,
  kind: Type.Union([Type.Literal("agent"), Type.Literal("workflow"), Type.Literal("webhook")]),
  title: Text,
  description: Text,
  manifests: Type.Array(
    Type.Object({ kind: Type.Union([Type.Literal("agent"), Type.Literal("workflow")]), name: Text, yaml: Text }),
    { description: "to deploy in this order" },
  ),
  requests: Type.Array(Type.Object({ method: Text, path: Text, body: AnyJson, summary: Text }), {
    description: "to send in this order once the manifests are deployed; `{agent_id}` is that of the first manifest",
  }),
});

export const samples = defineFeature({
  name: "samples",
  schemas: { Sample },
  open() {
    const read = (path: string) => Bun.file(join(import.meta.dir, "..", path)).text();
    return {
      service: null,
      routes: [
        defineRoute({
          method: "GET",
          path: "/v1/samples",
          summary: "Samples to begin with: manifests, and the requests that set them to work",
          responses: { 200: listSchema("samples", Sample) },
          async handler() {
            const items = await Promise.all(
              list.map(async ({ manifests, requests, ...sample }) => ({
                ...sample,
                manifests: await Promise.all(
                  manifests.map(async ({ kind, name, file }) => ({ kind, name, yaml: await read(file) })),
                ),
                requests: [...requests],
              })),
            );
            const answer = listOf("samples", items, pageOf({}, 1), () => []);
            return reply(200, answer, { "Cache-Control": "private, max-age=3600" });
          },
        }),
      ],
    };
  },
});
