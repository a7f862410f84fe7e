/**
 * The keys that execution tokens are signed with: made by the first node that needs one, kept in the
 * database, so that a token from one node is understood by all.
 */
import { exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { lookingTogether } from "../../lib/looking-together.ts";
import type { Sql } from "../../store/postgres/pool.ts";

export type SigningKey = Awaited<ReturnType<typeof importJWK>>;

export interface GatewayKeys {
  /** The key to sign with. */
  current(): Promise<{ readonly kid: string; readonly key: SigningKey }>;
  /** The public key of that id, or null. Those who ask for unknown ids at once, and shortly after a look, are answered by one look. */
  find(kid: string): Promise<SigningKey | null>;
  /** The public halves of all. */
  published(): Promise<readonly { readonly kid: string; readonly jwk: JWK }[]>;
}

/** Between two looks for keys of unknown ids: callers who make up ids cost no more. */
const lookAgainMs = 100;

interface Row {
  readonly kid: string;
  readonly public_jwk: string;
  readonly private_jwk: string;
}

export function createGatewayKeys(sql: Sql): GatewayKeys {
  const verifying = new Map<string, SigningKey>();
  let signing: Promise<{ kid: string; key: SigningKey }> | null = null;
  const look = lookingTogether(learn, lookAgainMs);

  async function learn(): Promise<void> {
    const rows = await sql<Row[]>`select kid, public_jwk, private_jwk from gateway_keys`;
    for (const row of rows) verifying.set(row.kid, await importJWK(JSON.parse(row.public_jwk), "EdDSA"));
  }

  async function prepare(): Promise<{ kid: string; key: SigningKey }> {
    const row = await newestOrNew(sql);
    return { kid: row.kid, key: await importJWK(JSON.parse(row.private_jwk), "EdDSA") };
  }

  return {
    current: () => {
      signing ??= prepare().catch((error: unknown) => {
        signing = null;
        throw error;
      });
      return signing;
    },
    find: async (kid) => {
      if (!verifying.has(kid)) await look();
      return verifying.get(kid) ?? null;
    },
    async published() {
      const rows = await sql<Row[]>`select kid, public_jwk from gateway_keys order by created_at desc`;
      return rows.map(({ kid, public_jwk }) => ({ kid, jwk: JSON.parse(public_jwk) as JWK }));
    },
  };
}

/** Nodes that start together agree on one key. */
async function newestOrNew(sql: Sql): Promise<Row> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('gateway_keys'), hashtext(current_schema()))`;
    const [row] = await tx<
      Row[]
    >`select kid, public_jwk, private_jwk from gateway_keys order by created_at desc limit 1`;
    if (row) return row;
    const made = await makeKey();
    await tx`insert into gateway_keys (kid, public_jwk, private_jwk) values (${made.kid}, ${made.public_jwk}, ${made.private_jwk})`;
    return made;
  });
}

async function makeKey(): Promise<Row> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const text = async (key: CryptoKey): Promise<string> => JSON.stringify((await exportJWK(key)) satisfies JWK);
  return { kid: crypto.randomUUID(), public_jwk: await text(publicKey), private_jwk: await text(privateKey) };
}
