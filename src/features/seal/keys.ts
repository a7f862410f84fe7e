/**
 * The keys that security tokens are signed with. The first node makes one and keeps it encrypted; a key given by a
 * setting takes its place, and only its public half is stored. Any node verifies what any other signed.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { Secret } from "../../lib/secret.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { EncryptedColumn, Encryption } from "../encryption/port.ts";
import type { Stop } from "../feature.ts";

export type VerifyingKey = Awaited<ReturnType<typeof importJWK>>;
type SigningKey = VerifyingKey | KeyObject;

/** As the key set shows it. */
export interface PublicKey extends JWK {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
}

export interface SealKeys {
  /** @throws Problem 500 `decryption_failed`, and what PostgreSQL throws while it is away */
  current(): Promise<{ readonly kid: string; readonly key: SigningKey }>;
  /** Null for ids of no key, which are not looked up all the time. */
  find(kid: string): Promise<VerifyingKey | null>;
  /** The public halves of keys that tokens in force may be signed with, newest first. */
  published(): Promise<readonly PublicKey[]>;
  /** Notes now and then that the key is in use. */
  startTouching(): Stop;
}

/** Texts of the table that a change of the master key encrypts anew. */
export const encryptedKeys: EncryptedColumn = { table: "seal_keys", column: "ciphertext", version: () => keyVersion };

const keyVersion = "private_jwk";
const lookAgainMs = 5_000;
const touchEveryMs = 600_000;
/** The longest life of a token, and time for a node that still signs with a key that others have left. */
const shownForSeconds = 86_400 + 7_200;

interface Row {
  readonly id: string;
  readonly kid: string;
  readonly public_jwk: string;
  readonly ciphertext: string | null;
}

export interface SealKeysOptions {
  readonly sql: Sql;
  readonly encryption: Pick<Encryption, "encrypt" | "decrypt">;
  /** SVC_SEAL_SIGNING_KEY: PKCS#8 in PEM, with `\n` for its line ends perhaps; null: the stored key. */
  readonly given: Secret | null;
  readonly now: () => number;
  readonly warn: (error: unknown) => void;
}

/** @throws StartFailure for a key that cannot be read */
export function createSealKeys({ sql, encryption, given, now, warn }: SealKeysOptions): SealKeys {
  const own = given === null ? null : readSigningKey(given.reveal());
  const verifying = new Map<string, VerifyingKey>();
  let signing: Promise<{ kid: string; key: SigningKey }> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> = Promise.resolve();

  const shown = () => sql<Row[]>`
    select id, kid, public_jwk, ciphertext from seal_keys
    where used_at > now() - make_interval(secs => ${shownForSeconds}) order by created_at desc, kid`;

  async function learn(): Promise<void> {
    for (const { kid, public_jwk } of await shown()) {
      if (!verifying.has(kid)) verifying.set(kid, await importJWK(JSON.parse(public_jwk), "EdDSA"));
    }
  }

  async function prepare(): Promise<{ kid: string; key: SigningKey }> {
    if (own !== null) {
      const jwk = publicJwk(createPublicKey(own).export({ format: "jwk" }));
      const kid = await calculateJwkThumbprint(jwk);
      await sql`insert into seal_keys (id, kid, public_jwk) values (${randomUUID()}, ${kid}, ${JSON.stringify(jwk)})
        on conflict (kid) do update set used_at = now()`;
      return { kid, key: own };
    }
    const row = await newestOrNew();
    const context = { tenant: systemTenant, record: row.id, version: keyVersion };
    const jwk = JSON.parse(encryption.decrypt(context, row.ciphertext ?? "")) as JWK;
    return { kid: row.kid, key: await importJWK(jwk, "EdDSA") };
  }

  /** Nodes that start together agree on one key. */
  const newestOrNew = (): Promise<Row> =>
    sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext('seal_keys'), hashtext(current_schema()))`;
      const [row] = await tx<Row[]>`
        update seal_keys set used_at = now() where id = (
          select id from seal_keys where ciphertext is not null order by created_at desc limit 1)
        returning id, kid, public_jwk, ciphertext`;
      if (row) return row;
      const made = await makeKey();
      await tx`insert into seal_keys (id, kid, public_jwk, ciphertext)
        values (${made.id}, ${made.kid}, ${made.public_jwk}, ${made.ciphertext})`;
      return made;
    });

  async function makeKey(): Promise<Row> {
    const { publicKey, privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
    const id = randomUUID();
    const jwk = publicJwk(await exportJWK(publicKey));
    const plain = JSON.stringify(await exportJWK(privateKey));
    return {
      id,
      kid: await calculateJwkThumbprint(jwk),
      public_jwk: JSON.stringify(jwk),
      ciphertext: encryption.encrypt({ tenant: systemTenant, record: id, version: keyVersion }, plain),
    };
  }

  function current() {
    signing ??= prepare().catch((error: unknown) => {
      signing = null;
      throw error;
    });
    return signing;
  }

  return {
    current,
    async find(kid) {
      if (!verifying.has(kid) && now() - lookedAt > lookAgainMs) {
        lookedAt = now();
        looking = learn().catch((error: unknown) => {
          // The next one asks again.
          lookedAt = Number.NEGATIVE_INFINITY;
          throw error;
        });
        looking.catch(() => {});
      }
      if (!verifying.has(kid)) await looking;
      return verifying.get(kid) ?? null;
    },
    async published() {
      await current();
      return (await shown()).map(({ kid, public_jwk }) => shownKey(JSON.parse(public_jwk) as JWK, kid));
    },
    startTouching: () =>
      repeatedly(
        touchEveryMs,
        async () => {
          const { kid } = await current();
          await sql`update seal_keys set used_at = now() where kid = ${kid}`;
        },
        warn,
      ),
  };
}

const publicJwk = ({ x = "" }: JWK) => ({ kty: "OKP", crv: "Ed25519", x }) as const;

export const shownKey = (jwk: JWK, kid: string): PublicKey => ({ ...publicJwk(jwk), kid, use: "sig", alg: "EdDSA" });

/** @throws StartFailure */
function readSigningKey(text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text.replaceAll("\\n", "\n"), format: "pem" });
  } catch {
    throw new StartFailure("SVC_SEAL_SIGNING_KEY is no private key in PEM (PKCS#8).");
  }
  if (key.asymmetricKeyType !== "ed25519") throw new StartFailure("SVC_SEAL_SIGNING_KEY is no Ed25519 key.");
  return key;
}
