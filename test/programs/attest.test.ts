/** The bootstrap's attestation, beside its work (docs/reference/seal.md). */
import { expect, test } from "bun:test";
import { readPublicKey } from "../../actors/seal/public-key.ts";
import { until } from "../harness/until.ts";
import { fakeGateway, final, refusal, startBootstrap } from "./fake-gateway.ts";

/** @param attest how attestations are answered */
async function work(attest?: () => Promise<Response>, env: Record<string, string> = {}) {
  const gateway = fakeGateway(
    async () => {
      await until(() => gateway.attestations.length > 0, { timeoutMs: 20_000, what: "an attestation" });
      return final("done");
    },
    attest === undefined ? {} : { attest },
  );
  const end = await (await startBootstrap(gateway.url, { env })).end;
  await gateway.stop();
  return { ...end, attestations: gateway.attestations, seen: gateway.seen };
}

test("the bootstrap attests once beside its first question, with a key of its own", async () => {
  const { code, stdout, attestations, seen } = await work(undefined, { HOSTNAME: "sandbox" });
  expect([code, stdout, seen.length, attestations.length]).toEqual([0, "done\n", 1, 1]);
  expect(attestations[0]).toMatchObject({ container_id: "sandbox" });
  expect(readPublicKey(String(attestations[0]?.agent_public_key))).not.toBeNull();
});

test.each<[string, () => Promise<Response>]>([
  ["fails", async () => refusal(503, "service_unavailable")],
  ["is no JSON", async () => new Response("<html>")],
  ["never comes", () => new Promise(() => {})],
])("an answer to the attestation that %s delays and fails nothing", async (_what, attest) => {
  const { code, stdout, stderr, attestations } = await work(attest);
  expect([code, stdout, stderr, attestations.length]).toEqual([0, "done\n", "", 1]);
});
