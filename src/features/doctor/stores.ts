/** Checks of what the node stands on: PostgreSQL, Redis, its disks, the clocks of all of them. */
import { statfs } from "node:fs/promises";
import { type Check, clockCheck, diskCheck, redisMemoryCheck, remedies } from "../../../actors/cluster/checks.ts";
import { databaseSettings, databaseWeaknesses, type Weakness } from "../../store/postgres/facts.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { primariesOf, type RedisClient } from "../../store/redis/connections.ts";
import { inspectRedis, redisWeaknesses } from "../../store/redis/facts.ts";

/** What is wrong with a store, or that all is well. */
function weaknessesOf(name: string, found: readonly Weakness[], well: string): Check[] {
  if (found.length === 0) return [{ name, status: "ok", message: well, remedy: null }];
  return found.map(({ code, message }) => ({
    name,
    // Accepted work may be lost by these.
    status: code === "redis_maxmemory_policy" || code === "postgres_fsync" ? "fail" : "warn",
    message,
    remedy: remedies[code] ?? null,
  }));
}

export async function postgresChecks(sql: Sql, production: boolean): Promise<Check[]> {
  const facts = await databaseSettings(sql);
  const [major, minor] = [Math.floor(facts.version / 10_000), facts.version % 10_000];
  const well = `PostgreSQL ${major}.${minor} answers, and commits wait for the disk`;
  return weaknessesOf("postgres", databaseWeaknesses(facts, production), well);
}

export async function postgresClock(sql: Sql): Promise<Check> {
  const began = performance.now();
  const [row] = await sql<{ at: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as at`;
  const tookMs = performance.now() - began;
  return clockCheck("clock_postgres", "PostgreSQL", (row?.at ?? 0) - (Date.now() - tookMs / 2), tookMs);
}

export async function redisChecks(redis: RedisClient): Promise<Check[]> {
  const facts = await inspectRedis(redis);
  const texts = await Promise.all(primariesOf(redis).map((primary) => primary.info("memory")));
  const figure = (text: string, name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1] ?? 0);
  const memory = texts.map((text) =>
    redisMemoryCheck("redis_memory", figure(text, "used_memory"), figure(text, "maxmemory")),
  );
  const name = facts.isValkey ? "Valkey" : "Redis";
  const well = `${name} ${facts.version ?? ""} answers, keeps what it takes and throws nothing away`;
  return [...weaknessesOf("redis", redisWeaknesses(facts), well), ...memory];
}

export async function redisClock(redis: RedisClient): Promise<Check> {
  const [primary] = primariesOf(redis);
  if (primary === undefined) throw new Error("Redis has no master");
  const began = performance.now();
  const [seconds = 0, micros = 0] = (await primary.time()).map(Number);
  const tookMs = performance.now() - began;
  return clockCheck("clock_redis", "Redis", seconds * 1000 + micros / 1000 - (Date.now() - tookMs / 2), tookMs);
}

export async function diskOf(name: string, directory: string): Promise<Check> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return diskCheck(name, bavail * bsize, blocks * bsize);
}
