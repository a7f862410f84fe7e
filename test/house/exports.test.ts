/** Every table and every column is named where it is exported or why it is not, and no secret is among what leaves. */
import { afterAll, expect, test } from "bun:test";
import type { ExportedTables } from "../../src/features/feature.ts";
import { features } from "../../src/node/features.ts";
import { freshStores } from "../harness/stores.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());

/** Tables of no feature, or of no tenant. */
const others: Readonly<Record<string, string>> = {
  cluster_nodes: "the platform's",
  development_issuer_keys: "the platform's",
  edge_signing_keys: "the platform's",
  execution_trimming: "the platform's",
  gateway_keys: "the platform's",
  migrations: "the platform's",
  seal_keys: "the platform's",
  usage_progress: "the platform's",
  runtime_activities: "work under way",
  runtime_actors: "what actors hold is told as records of their features",
  runtime_attempts: "work under way",
  runtime_capabilities: "the platform's",
  runtime_counters: "numbers of records",
  runtime_dead_letters: "operators have them",
  runtime_former_mailboxes: "the platform's",
  runtime_inbox: "work under way",
  runtime_logs: "what actors tell is in the records of their features",
  runtime_needs: "the platform's",
  runtime_nodes: "the platform's",
  runtime_outbox: "work under way",
  runtime_parked: "work under way",
  runtime_partitions: "the platform's",
  runtime_rearm: "work under way",
  runtime_received: "the platform's",
  runtime_received_ahead: "the platform's",
  runtime_timers: "work under way",
};

/** Names that look like secrets and are none. */
const plain =
  /^(?:input_tokens|output_tokens|secret_version|token_expires_at|idempotency_key|error_signature|(?:content|manifest|arguments)_sha256|error_signature_hash)$/;
const suspicious = /cipher|hash|digest|secret|token|private|password|totp|sha256|_key$|^key$|signature$|sealed/;

const declared: readonly (readonly [string, ExportedTables[string]])[] = features.flatMap(
  ({ exported = {} }: { readonly exported?: ExportedTables }) => Object.entries(exported),
);

test("each table is exported, or it is told why not; each column of it likewise", async () => {
  const rows = await stores.sql<{ name: string; columns: string[] }[]>`
    select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
    where table_schema = current_schema() group by table_name`;
  const named = [...declared.map(([name]) => name), ...Object.keys(others)];
  expect(named.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  for (const [name, table] of declared) {
    if (typeof table === "string") continue;
    const withheld = Object.keys(table.withheld ?? {}).flatMap((columns) => columns.split(" "));
    const all = [...table.columns.split(" "), ...withheld];
    const known = rows.find((row) => row.name === name)?.columns.filter((column) => column !== "tenant") ?? [];
    expect([name, all.toSorted()]).toEqual([name, known.toSorted()]);
  }
});

test("no column that may hold a secret leaves", async () => {
  const bytes = await stores.sql<{ place: string }[]>`
    select table_name || '.' || column_name as place from information_schema.columns
    where table_schema = current_schema() and data_type = 'bytea'`;
  const leaving = declared.flatMap(([name, table]) =>
    typeof table === "string" ? [] : table.columns.split(" ").map((column) => ({ name, column })),
  );
  expect(leaving.length).toBeGreaterThan(300);
  expect(leaving.filter(({ name, column }) => bytes.some(({ place }) => place === `${name}.${column}`))).toEqual([]);
  expect(leaving.filter(({ column }) => suspicious.test(column) && !plain.test(column))).toEqual([]);
});
