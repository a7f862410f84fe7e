/** Hosts for the edge bench: a few hundred that enroll by the service's routes, the others put into its tables. */
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { enrollmentMessage } from "../../../actors/edge/signing.ts";
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { Sql } from "../../../src/store/postgres/pool.ts";
import type { BenchService } from "../service.ts";
import type { BenchStores } from "../stores.ts";
import { pumped } from "../table.ts";
import type { ServiceKeyPin, SimulatedHost } from "./simulated/orders.ts";

export interface BenchHosts {
  readonly hosts: readonly SimulatedHost[];
  readonly file: string;
  readonly pins: readonly ServiceKeyPin[];
  /** Tokens issued and redeemed a second. */
  readonly enrolledPerSecond: number;
}

const atOnce = 16;

/** An address of its own for each, as the balancer would tell it. */
const addressOf = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

export function newHost(index: number, id: string = Bun.randomUUIDv7()): SimulatedHost {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    id,
    key: privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"),
    publicKey: publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64"),
    address: addressOf(index),
  };
}

export function writeHosts(stores: BenchStores, name: string, hosts: readonly SimulatedHost[]): string {
  const file = join(stores.dataDir, `${name}.jsonl`);
  writeFileSync(file, hosts.map((host) => JSON.stringify(host)).join("\n"), { mode: 0o600 });
  return file;
}

/** @param byRoute how many of them enroll as a daemon does */
export async function makeHosts(
  stores: BenchStores,
  service: BenchService,
  sql: Sql,
  count: number,
  byRoute: number,
): Promise<BenchHosts> {
  const enrolled: SimulatedHost[] = [];
  let pins: readonly ServiceKeyPin[] = [];
  const { totalMs } = await pumped(byRoute, atOnce, async (index) => {
    const made = await enroll(service, index);
    pins = made.pins;
    enrolled.push(made.host);
  });
  const others = Array.from({ length: count - byRoute }, (_, index) => newHost(byRoute + index));
  await insert(sql, others);
  const hosts = [...enrolled, ...others];
  const file = writeHosts(stores, "edge-hosts", hosts);
  return { hosts, file, pins, enrolledPerSecond: (byRoute * 1000) / totalMs };
}

async function enroll(service: BenchService, index: number) {
  const made = newHost(index);
  const issued = await service.post("/v1/edge/enrollment-tokens", { tags: ["bench"] });
  if (!issued.ok) throw new Error(`token: ${issued.status} ${await issued.text()}`);
  const { token } = (await issued.json()) as { token: string };
  const digest = createHash("sha256").update(token).digest("hex");
  const proof = sign(null, Buffer.from(enrollmentMessage(made.publicKey, digest)), {
    ...{ key: Buffer.from(made.key, "base64"), format: "der", type: "pkcs8" },
  });
  const answer = await fetch(`${service.url}/v1/edge/daemon/enroll`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": made.address },
    body: JSON.stringify({ token, public_key: made.publicKey, signature: proof.toString("base64") }),
  });
  if (!answer.ok) throw new Error(`enroll: ${answer.status} ${await answer.text()}`);
  const body = (await answer.json()) as { node_id: string; service_keys: readonly ServiceKeyPin[] };
  return { host: { ...made, id: body.node_id }, pins: body.service_keys };
}

async function insert(sql: Sql, hosts: readonly SimulatedHost[]): Promise<void> {
  for (let from = 0; from < hosts.length; from += 1000) {
    const some = hosts.slice(from, from + 1000).map(({ id, publicKey }, index) => ({
      ...{ id, name: `bench-${String(from + index).padStart(5, "0")}` },
      public_key: Buffer.from(publicKey, "base64").toString("hex"),
    }));
    await sql`
      with given as (select * from json_to_recordset(${JSON.stringify(some)}::text::json) as r (id uuid, name text, public_key text)),
        made as (insert into edge_hosts (id, tenant, name, tags, created_by)
          select id, ${systemTenant}, name, array['bench'], 'svc-system/bench' from given)
      insert into edge_host_keys (public_key, tenant, host_id, state)
      select decode(public_key, 'hex'), ${systemTenant}, id, 'current' from given`;
  }
  await sql`analyze edge_hosts`;
  await sql`analyze edge_host_keys`;
}
