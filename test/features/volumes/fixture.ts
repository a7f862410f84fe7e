/** A node and what tests of volumes do with it over and over: callers, volumes, uploads, downloads. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Answer } from "../../harness/node/node-process.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

/** Headers of a caller. */
type Caller = Readonly<Record<string, string>>;
type Content = FormData | string | Uint8Array<ArrayBuffer> | ReadableStream;

export const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

export class VolumeFixture {
  private count = 0;

  private constructor(readonly executions: ExecutionFixture) {}

  static async open(env: Readonly<Record<string, string>> = {}): Promise<VolumeFixture> {
    return new VolumeFixture(await ExecutionFixture.open(env));
  }

  close(): Promise<void> {
    return this.executions.close();
  }

  get node() {
    return this.executions.node;
  }

  /** A caller with a tenant of its own. */
  newUser = async (tier = "pro"): Promise<Caller> => {
    this.count += 1;
    const token = await this.node.token({ username: `person-${this.count}`, tier }, "svc-consumer");
    return { Authorization: `Bearer ${token}` };
  };

  call = (who: Caller, method: string, path: string, body?: unknown): Promise<Answer> =>
    this.node.call(method, `/v1/volumes${path}`, body, who);

  /** Creates a volume. @returns its id */
  made = async (who: Caller, body: Record<string, unknown> = {}): Promise<string> => {
    this.count += 1;
    const answer = await this.call(who, "POST", "", { label: `volume ${this.count}`, ...body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.id;
  };

  /** An upload: a form, or bytes. */
  put = async (who: Caller, volume: string, body: Content, query = "", headers: Caller = {}) => {
    const response = await fetch(`${this.node.url}/v1/volumes/${volume}/files/upload${query}`, {
      method: "POST",
      headers: { ...who, ...headers },
      body,
    });
    const answer: Pick<Answer, "status" | "body"> = { status: response.status, body: await response.json() };
    return answer;
  };

  get = (who: Caller, path: string, headers: Caller = {}): Promise<Response> =>
    fetch(`${this.node.url}/v1/volumes${path}`, { headers: { ...who, ...headers } });

  /** Where the node keeps a volume's files. */
  hostOf = (id: string, ...path: string[]): string => join(this.node.dataDir, "volumes", id, ...path);
}
