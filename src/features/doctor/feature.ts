/** The doctor: what is wrong with this node and what it stands on, and what to do about it. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { reply } from "../../http/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { openRedis } from "../../store/redis/connections.ts";
import { defineFeature } from "../feature.ts";
import { volumes } from "../volumes/feature.ts";
import { examine, issuerLooks, type Look, mailLook, modelsLook, sandboxLook } from "./service.ts";
import { diskOf, postgresChecks, postgresClock, redisChecks, redisClock } from "./stores.ts";

const DoctorCheck = Type.Object({
  name: Type.String({ description: "of the part; one part may have several", examples: ["redis"] }),
  status: Type.Union([Type.Literal("ok"), Type.Literal("warn"), Type.Literal("fail")]),
  message: Text,
  remedy: Nullable(Text),
});
const Report = Type.Object({ checks: Type.Array(DoctorCheck), at: Time });

export const doctor = defineFeature({
  name: "doctor",
  needs: { volumes },
  schemas: { DoctorCheck },
  open(node, { volumes }) {
    const { sql, redisServers, dataDir, storageRoot, development, sandboxes, models, mail, embedded, issuer, now } =
      node;
    const redis = openRedis(redisServers);
    const own = issuer !== null ? "development" : embedded !== null ? "embedded" : null;
    const postgres = "Look at DATABASE_URL and whether PostgreSQL runs";
    const redisAway = "Look at REDIS_URL and whether Redis runs";
    const looks: readonly Look[] = [
      { name: "postgres", remedy: postgres, look: () => postgresChecks(sql, !development) },
      { name: "redis", remedy: redisAway, look: () => redisChecks(redis) },
      { name: "clock_postgres", remedy: postgres, look: async () => [await postgresClock(sql)] },
      { name: "clock_redis", remedy: redisAway, look: async () => [await redisClock(redis)] },
      { name: "disk_data", remedy: "Look at SVC_DATA_DIR", look: async () => [await diskOf("disk_data", dataDir)] },
      {
        name: "disk_volumes",
        remedy: "Look at SVC_STORAGE_ROOT",
        look: async () => [await diskOf("disk_volumes", storageRoot)],
      },
      {
        name: "storage",
        remedy: "Look at SVC_STORAGE_BACKEND and, for an object store, its address, bucket and keys",
        async look() {
          await volumes.places.probe();
          return [{ name: "storage", status: "ok", message: "Volumes can be written, read and erased", remedy: null }];
        },
      },
      sandboxLook(sandboxes),
      modelsLook(models),
      ...issuerLooks(node.issuerProbes, own),
      mailLook(mail),
    ];
    /** Those who ask at the same time share one look. */
    let underWay: Promise<Static<typeof Report>> | null = null;
    return {
      service: null,
      close: () => redis.disconnect(),
      routes: [
        defineRoute({
          method: "GET",
          path: "/v1/admin/doctor",
          summary: "What is wrong with this node and what it stands on, and what to do about it; within 5 s",
          tag: "cluster",
          operatorsOnly: true,
          scope: "node:read",
          whileDatabaseAway: true,
          responses: { 200: Report },
          async handler() {
            underWay ??= examine(looks, now)
              .then(({ checks, at }) => ({ checks: [...checks], at }))
              .finally(() => {
                underWay = null;
              });
            return reply(200, await underWay, { "Cache-Control": "no-store" });
          },
        }),
      ],
    };
  },
});
