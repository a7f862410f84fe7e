/**
 * Keys that the service signs with, each use with a table of its own. The first node makes one and keeps it encrypted; a
 * key given by a setting takes its place, and only its public half is stored. Any node verifies what any other signed.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { systemTenant } from "../../../actors/identity/identity.ts";
import { lookingTogether } from "../../lib/looking-together.ts";
import type { Secret } from "../../lib/secret.ts";
import { StartFailure } from "../../lib/start-failure.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Stop } from "../feature.ts";
import type { EncryptedColumn, Encryption } from "./encrypted.ts";

export type VerifyingKey = Awaited<ReturnType<typeof importJWK>>;

/** One that this node can sign with. */
export interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
  /** The 32 bytes of its public half, in base64. */
  readonly publicKey: string;
}

/** As the key set shows it. */
export interface PublicKey extends JWK {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
}

export interface SigningKeys {
  /** @throws Problem 500 `decryption_failed`, and what PostgreSQL throws while it is away */
  current(): Promise<SigningKey>;
  /** All that this node can sign with, the current one first. @throws as `current` */
  held(): Promise<readonly SigningKey[]>;
  /** Null for ids of no key. Those who ask for unknown ones at once, and shortly after a look, are answered by one look. */
  find(kid: string): Promise<VerifyingKey | null>;
  /** The public halves of keys that tokens in force may be signed with, newest first. */
  published(): Promise<readonly PublicKey[]>;
  /** Notes now and then that the key is in use. */
  startTouching(): Stop;
  /** Texts of the table that a change of the master key encrypts anew. */
  readonly encrypted: EncryptedColumn;
}

const keyVersion = "private_jwk";
/** Between two looks for keys of unknown ids: callers who make up ids cost no more. */
const lookAgainMs = 100;
const touchEveryMs = 600_000;
/** The longest life of a token, and time for a node that still signs with a key that others have left. */
const shownForSeconds = 86_400 + 7_200;

interface Row {
  readonly id: string;
  readonly kid: string;
  readonly public_jwk: string;
  readonly ciphertext: string | null;
}

export interface SigningKeysOptions {
  readonly sql: Sql;
  readonly encryption: Pick<Encryption, "encrypt" | "decrypt">;
  readonly table: "seal_keys" | "edge_signing_keys";
  /** The name of the setting that gives a key. */
  readonly setting: string;
  /** Its value: PKCS#8 in PEM, with `\n` for its line ends perhaps; null: the stored key. */
  readonly given: Secret | null;
  /** What ids of keys begin with. */
  readonly kidPrefix: string;
  readonly warn: (error: unknown) => void;
}

/** @throws StartFailure for a key that cannot be read */
export function createSigningKeys(options: SigningKeysOptions): SigningKeys {
  const { sql, encryption, table, given, kidPrefix, warn } = options;
  const own = given === null ? null : readSigningKey(options.setting, given.reveal());
  const keys = sql(table);
  const verifying = new Map<string, VerifyingKey>();
  let signing: Promise<SigningKey> | null = null;
  const opened = new Map<string, SigningKey>();
  const look = lookingTogether(learn, lookAgainMs);

  const shown = () => sql<Row[]>`
    select id, kid, public_jwk, ciphertext from ${keys}
    where used_at > now() - make_interval(secs => ${shownForSeconds}) order by created_at desc, kid`;

  async function learn(): Promise<void> {
    for (const { kid, public_jwk } of await shown()) {
      if (!verifying.has(kid)) verifying.set(kid, await importJWK(JSON.parse(public_jwk), "EdDSA"));
    }
  }

  async function prepare(): Promise<SigningKey> {
    if (own !== null) {
      const jwk = publicJwk(createPublicKey(own).export({ format: "jwk" }));
      const kid = kidPrefix + (await calculateJwkThumbprint(jwk));
      await sql`insert into ${keys} (id, kid, public_jwk) values (${randomUUID()}, ${kid}, ${JSON.stringify(jwk)})
        on conflict (kid) do update set used_at = now()`;
      return { kid, key: own, publicKey: rawOf(jwk) };
    }
    return open(await newestOrNew());
  }

  function open({ id, kid, public_jwk, ciphertext }: Row): SigningKey {
    const known = opened.get(kid);
    if (known !== undefined) return known;
    const plain = encryption.decrypt({ tenant: systemTenant, record: id, version: keyVersion }, ciphertext ?? "");
    const key = createPrivateKey({ key: JSON.parse(plain), format: "jwk" });
    const made = { kid, key, publicKey: rawOf(JSON.parse(public_jwk)) };
    opened.set(kid, made);
    return made;
  }

  /** Nodes that start together agree on one key. */
  const newestOrNew = (): Promise<Row> =>
    sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext(${table}), hashtext(current_schema()))`;
      const [row] = await tx<Row[]>`
        update ${keys} set used_at = now() where id = (
          select id from ${keys} where ciphertext is not null order by created_at desc limit 1)
        returning id, kid, public_jwk, ciphertext`;
      if (row) return row;
      const made = await makeKey();
      await tx`insert into ${keys} (id, kid, public_jwk, ciphertext)
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
      kid: kidPrefix + (await calculateJwkThumbprint(jwk)),
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
    encrypted: { table, column: "ciphertext", version: () => keyVersion },
    async held() {
      const first = await current();
      const rows = await sql<Row[]>`
        select id, kid, public_jwk, ciphertext from ${keys}
        where ciphertext is not null and kid <> ${first.kid} order by created_at desc, kid`;
      return [first, ...rows.map(open)];
    },
    async find(kid) {
      if (!verifying.has(kid)) await look();
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
          await sql`update ${keys} set used_at = now() where kid = ${kid}`;
        },
        warn,
      ),
  };
}

const publicJwk = ({ x = "" }: JWK) => ({ kty: "OKP", crv: "Ed25519", x }) as const;

export const shownKey = (jwk: JWK, kid: string): PublicKey => ({ ...publicJwk(jwk), kid, use: "sig", alg: "EdDSA" });

const rawOf = ({ x = "" }: JWK): string => Buffer.from(x, "base64url").toString("base64");

/** @throws StartFailure */
function readSigningKey(setting: string, text: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text.replaceAll("\\n", "\n"), format: "pem" });
  } catch {
    throw new StartFailure(`${setting} is no private key in PEM (PKCS#8).`);
  }
  if (key.asymmetricKeyType !== "ed25519") throw new StartFailure(`${setting} is no Ed25519 key.`);
  return key;
}
