/** What a host believes of an enrollment token and of the service that answers (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Failure } from "../../../src/programs/svc/edge/command/exit.ts";
import { readToken, requireService } from "../../../src/programs/svc/edge/host/token.ts";
import { keyOfSeed, publicHalf, signed } from "../../actors/edge/vectors.ts";
import { scratch } from "../../harness/scratch.ts";
import { sha256 } from "./releases.ts";

const service = keyOfSeed(new Uint8Array(32).fill(0x40));
const stranger = keyOfSeed(new Uint8Array(32).fill(0x41));
const named = (key: typeof service, kid = "edge-1") => ({ kid, public_key: publicHalf(key) });
const fingerprint = sha256(Buffer.from(publicHalf(service), "base64"));

const coded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
function token(claims: object = {}, key = service): string {
  const text = [
    coded({ alg: "EdDSA", kid: "edge-1", typ: "JWT" }),
    coded({
      ...{ jti: "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90", tid: "acme", sub: "ann", aud: "edge-enrollment" },
      ...{ iss: "svc-edge", nbf: 1, exp: 2, cep: "svc.test:443", url: "https://svc.test", skt: fingerprint },
      ...claims,
    }),
  ].join(".");
  return `${text}.${Buffer.from(signed(key, text), "base64").toString("base64url")}`;
}

const believes = (text: string, keys: readonly ReturnType<typeof named>[]): boolean => {
  try {
    requireService(readToken(text), keys);
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || error.exit !== "authentication") throw error;
    return false;
  }
};

test("the service is the one whose key the token names and is signed by", () => {
  const [head = "", , signature = ""] = token().split(".");
  const altered = [head, token({ tid: "evil" }).split(".")[1], signature].join(".");
  expect([
    believes(token(), [named(service)]),
    believes(token(), [named(stranger, "edge-2"), named(service)]),
    believes(token(), [named(stranger)]),
    believes(token(), []),
    believes(token({}, stranger), [named(service)]),
    believes(token({}, stranger), [named(stranger), named(service)]),
    believes(altered, [named(service)]),
    believes(token({ skt: fingerprint.toUpperCase() }), [named(service)]),
    believes(token(), [{ kid: "edge-1", public_key: "AAAA" }]),
  ]).toEqual([true, true, false, false, false, false, false, false, false]);
});

test("a token is read from its text and from the code that is shown beside it", () => {
  for (const text of [token(), ` ${token()}\n`, `svc-edge-enroll://${token()}`])
    expect(readToken(text)).toMatchObject({ text: token(), claims: { tid: "acme", url: "https://svc.test" } });
  for (const text of [
    "",
    "a.b",
    "a.b.c",
    "a.b.c.d",
    `${token()}.x`,
    token({ aud: "else" }),
    token({ url: 7 }),
    "x".repeat(5000),
  ])
    expect(() => readToken(text)).toThrow(Failure);
});

// Of its own process: what the service's code registers is not there.
test("the program reads a token where nothing of the service is loaded", async () => {
  const main = join(import.meta.dir, "../../../src/programs/svc/edge/main.ts");
  const state = join(scratch("edge-token"), "state");
  const child = Bun.spawn(
    [process.execPath, main, "enroll", "-", "--dry-run", "--json", "--non-interactive", "--state-dir", state],
    { env: { PATH: process.env.PATH ?? "" }, stdio: [new TextEncoder().encode(token()), "pipe", "pipe"] },
  );
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([await child.exited, err]).toEqual([0, ""]);
  expect(JSON.parse(out)).toMatchObject({ dry_run: true, tenant: "acme", service: "https://svc.test" });
});
