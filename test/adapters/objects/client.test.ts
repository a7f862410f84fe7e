/** What the client of the store of objects sends, where to, and that it asks nothing else (docs/reference/volumes.md). */
import { afterAll, afterEach, beforeAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { openObjects } from "../../../src/adapters/objects/port.ts";
import { type S3Store, startS3 } from "../../harness/outside/s3.ts";
import { scratch } from "../../harness/scratch.ts";

let s3: S3Store;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.stop());
afterEach(() => {
  s3.failing(null);
  s3.asked.length = 0;
});

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error) => error);
const eightMebibytes = new Uint8Array(8 * 1024 * 1024);

/** Every name under which the client looks for settings, so that one that it read would show. */
function misled(trap: string): Record<string, string> {
  const folder = scratch("aws");
  // Reading this never ends.
  const pipe = join(folder, "config");
  Bun.spawnSync(["mkfifo", pipe]);
  const none = "nonsense";
  return {
    AWS_CONFIG_FILE: pipe,
    AWS_SHARED_CREDENTIALS_FILE: pipe,
    HOME: folder,
    AWS_PROFILE: none,
    AWS_ENDPOINT_URL: trap,
    AWS_ENDPOINT_URL_S3: trap,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: trap,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${trap}/credentials`,
    AWS_ACCESS_KEY_ID: none,
    AWS_SECRET_ACCESS_KEY: none,
    AWS_SESSION_TOKEN: none,
    AWS_REGION: none,
    AWS_DEFAULTS_MODE: "auto",
    AWS_MAX_ATTEMPTS: none,
    AWS_RETRY_MODE: none,
    AWS_AUTH_SCHEME_PREFERENCE: none,
    AWS_SIGV4A_SIGNING_REGION_SET: none,
    AWS_S3_USE_ARN_REGION: none,
    AWS_S3_DISABLE_EXPRESS_SESSION_AUTH: none,
    AWS_USE_DUALSTACK_ENDPOINT: none,
    AWS_USE_FIPS_ENDPOINT: none,
    AWS_REQUEST_CHECKSUM_CALCULATION: none,
    AWS_RESPONSE_CHECKSUM_VALIDATION: none,
    AWS_SDK_UA_APP_ID: none,
  };
}

const portPath = join(import.meta.dir, "../../../src/adapters/objects/port.ts");

test("the client is loaded when first used, and asks the store alone", async () => {
  let trapped = 0;
  const trap = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(`${trapped++}`) });
  const { s3AccessKeyId, s3SecretAccessKey, ...settings } = s3.settings;
  const program = `
    const loaded = () => Object.keys(require.cache).some((name) => name.includes("@aws-sdk"));
    const key = { reveal: () => "S3RVER" };
    const settings = { ...${JSON.stringify(settings)}, s3AccessKeyId: key, s3SecretAccessKey: key };
    const objects = require(${JSON.stringify(portPath)}).openObjects(settings);
    const before = loaded();
    await objects.probe("p/1");
    console.log(before, loaded());`;
  const env = { ...process.env, ...misled(`http://127.0.0.1:${trap.port}`) };
  const child = Bun.spawn([process.execPath, "-e", program], { env, stdout: "pipe", timeout: 20_000 });
  expect((await new Response(child.stdout).text()).trim()).toBe("false true");
  const [first] = s3.asked;
  expect(first?.headers.get("authorization")).toMatch(/Credential=S3RVER\/\d{8}\/us-east-1\/s3\/aws4_request/);
  expect(first?.headers.get("x-amz-content-sha256")).toBe("UNSIGNED-PAYLOAD");
  expect(first?.headers.get("user-agent")).not.toContain("nonsense");
  expect(trapped).toBe(0);
  await trap.stop(true);
});

test.each([
  ["https://files.s3.eu-north-1.amazonaws.com/svc/a%20b", null],
  ["https://files.store.example/below/svc/a%20b", "https://store.example/below/"],
  ["http://localhost:9/files/svc/a%20b", "http://localhost:9"],
  ["http://[::1]:9/files/svc/a%20b", "http://[::1]:9"],
])("requests go to %s", async (address, s3Endpoint) => {
  const sent = spyOn(globalThis, "fetch");
  sent.mockImplementation(Object.assign(async () => new Response(null, { status: 404 }), { preconnect() {} }));
  process.env.AWS_ENDPOINT_URL_S3 = "http://127.0.0.1:1";
  try {
    const settings = { ...s3.settings, s3Endpoint, s3ForcePathStyle: false, s3Region: "eu-north-1" };
    expect(await openObjects(settings).look("a b")).toBeNull();
    expect(sent.mock.lastCall?.[0]).toBe(address);
  } finally {
    delete process.env.AWS_ENDPOINT_URL_S3;
    sent.mockRestore();
  }
});

test("names with any characters are signed and sent alike", async () => {
  const objects = openObjects(s3.settings);
  const upload = objects.upload({ key: "a b/ü(1)'!*&?=+~" });
  await upload.finish();
  expect(await s3.keys()).toEqual(["svc/a b/ü(1)'!*&?=+~"]);
  await objects.remove(["a b/ü(1)'!*&?=+~"]);
});

test("a part that is not answered is given up with its upload", async () => {
  s3.failing(({ path }) => (path.includes("partNumber") ? "hang" : null));
  const upload = openObjects(s3.settings).upload({ key: "u/hangs" });
  await upload.write(eightMebibytes);
  expect(s3.openUploads.size).toBe(1);
  await upload.discard();
  expect(s3.openUploads.size).toBe(0);
});

test("redirects are not followed, and nothing of the store's text goes on", async () => {
  const elsewhere = startElsewhere();
  try {
    const objects = openObjects({ ...s3.settings, s3Endpoint: elsewhere.url });
    expect(await failureOf(objects.look("a"))).toMatchObject({ reason: "307", answered: 307 });
    expect(elsewhere.asked).toEqual(["HEAD /files/svc/a"]);
    for (const [key, reason] of [
      ["long", "403"],
      ["marked", "403"],
      ["named", "403 AccessDenied"],
    ] as const) {
      const failure = await failureOf(objects.read(key, { start: 0, end: 1 }));
      expect(failure).toMatchObject({ reason, answered: 403, message: "The storage of files cannot be reached" });
      expect(Bun.inspect(failure)).not.toMatch(/a secret text|S3RVER|Signature/);
    }
  } finally {
    await elsewhere.stop();
  }
});

/** A server that leads elsewhere, and answers with much or with what is no text of the protocol. */
function startElsewhere() {
  const asked: string[] = [];
  const texts: Record<string, string> = {
    long: `<Error><Code>Long</Code><Message>a secret text</Message>${" ".repeat(20_000)}</Error>`,
    marked: "<html>a secret text & <p",
    named: "<Error><Code>AccessDenied</Code><Message>a secret text</Message><HostId>a secret text</HostId></Error>",
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      const text = texts[pathname.split("/").at(-1) ?? ""];
      return text === undefined
        ? new Response(null, { status: 307, headers: { location: "/elsewhere" } })
        : new Response(text, { status: 403 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}

test("a list of what is removed has the digest that all stores know", async () => {
  await openObjects(s3.settings).remove(["d/<1>", "d/2"]);
  const [asked] = s3.asked;
  expect(asked?.path).toContain("?delete");
  expect(asked?.headers.get("content-md5")).toMatch(/^[A-Za-z0-9+/]{22}==$/);
  expect([...(asked?.headers.keys() ?? [])].filter((name) => name.includes("checksum"))).toEqual([]);
});
