/** A node, agents at work in sandboxes, and what tests of signed calls say in their place. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { canonicalTexts } from "../../../actors/seal/canonical.ts";
import { type JsonNode, readJsonText } from "../../../actors/seal/json-text.ts";
import { createGatewayKeys } from "../../../src/features/execution-tokens/keys.ts";
import { createExecutionTokens } from "../../../src/features/execution-tokens/tokens.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { shell } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

export type Headers = Readonly<Record<string, string>>;

/** A key pair as an agent makes one. */
export function agentKey(): { readonly privateKey: KeyObject; readonly raw: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { privateKey, raw: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url") };
}

/** An instance at work, in whose place a test speaks. */
export interface Instance {
  readonly executionId: string;
  readonly agentId: string;
  readonly instanceId: string;
  readonly token: string;
}

export class SealFixture {
  private constructor(readonly at: ExecutionFixture) {}

  static async open(env: Headers = {}): Promise<SealFixture> {
    return new SealFixture(await ExecutionFixture.open(env));
  }

  close = (): Promise<void> => this.at.close();

  get node(): NodeProcess {
    return this.at.node;
  }

  /** An execution that is at one command for minutes, with a token of its instance. */
  async instance(more: Parameters<ExecutionFixture["deploy"]>[0] = {}, headers: Headers = {}): Promise<Instance> {
    const agentId = await this.at.deploy(
      { script: [shell("sleep 300")], tools: ["*"], resources: { timeout: 300 }, ...more },
      headers,
    );
    const { body } = await this.at.start(agentId, {}, headers);
    const executionId: string = body.execution_id;
    const followed = await this.at.follow(executionId, "", headers);
    const { instance_id: instanceId } = (await ExecutionFixture.seen(followed, "instance_spawned")).body;
    followed.close();
    return { executionId, agentId, instanceId, token: await this.tokenOf({ executionId, agentId, instanceId }) };
  }

  /** A token of any instance, by the node's own key. */
  tokenOf = ({ executionId, agentId, instanceId }: Omit<Instance, "token">, tenant = "svc-system"): Promise<string> =>
    createExecutionTokens(createGatewayKeys(this.at.stores.sql), Date.now).mint({
      ...{ executionId, agentId, tenant, instanceId },
      livesSeconds: 600,
    });

  inside = (path: string, body: unknown, headers: Headers = {}, node = this.node) =>
    post(node.internalUrl + path, body, headers);
  outside = (path: string, body: unknown, headers: Headers = {}, node = this.node) =>
    post(node.url + path, body, headers);

  attestInside = (instance: Instance, body: object) =>
    this.inside("/v1/seal/attest", body, { Authorization: `Bearer ${instance.token}` });
}

async function post(url: string, body: unknown, headers: Headers = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
  const text = await response.text();
  const answer: LooseJson = text === "" ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, body: answer, text };
}

/** Status, number and code, as tests compare refusals. */
export const told = ({ status, body }: { readonly status: number; readonly body: LooseJson }): readonly unknown[] => [
  status,
  body?.error_code,
  body?.code,
];

export const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** An envelope as text. @param payload as it goes over the wire */
export function envelope(
  key: KeyObject,
  token: string,
  payload: string,
  timestamp: string = JSON.stringify(new Date().toISOString()),
): string {
  const parsed: JsonNode = readJsonText(Buffer.from(payload), 64);
  const seconds = timestamp.startsWith('"') ? Math.floor(Date.parse(JSON.parse(timestamp)) / 1000) : Number(timestamp);
  const [text] = canonicalTexts({ payload: parsed, security_token: token, timestamp: seconds });
  const signature = sign(null, Buffer.from(text), key).toString("base64");
  return `{"protocol":"seal/v1","payload":${payload},"security_token":${JSON.stringify(token)},"signature":"${signature}","timestamp":${timestamp}}`;
}

export const call = (name: string, given: unknown = {}, id: unknown = crypto.randomUUID()): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } });
