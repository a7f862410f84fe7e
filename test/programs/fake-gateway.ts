/** A gateway that answers by script, on TCP or on a unix socket, and the bootstrap run against it for real. */
import { existsSync } from "node:fs";
import { bundleBootstrap } from "../../src/programs/bundle.ts";
import { scratch } from "../harness/scratch.ts";

export interface Seen {
  readonly path: string;
  readonly authorization: string | null;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A body, or a whole response, for the n-th request (from 0). */
export type Script = (seen: Seen, n: number) => object | Promise<object>;

export interface FakeGateway {
  readonly url: string;
  readonly seen: Seen[];
  /** Bodies of the messages with output of a running command; the script is not asked about them. */
  readonly output: Seen["body"][];
  /** Bodies of attestations; the script is not asked about them either. */
  readonly attestations: Seen["body"][];
  stop(): Promise<void>;
}

export function fakeGateway(
  script: Script,
  at: { port?: number; unix?: string; noted?: () => Response; attest?: () => Promise<Response> } = {},
): FakeGateway {
  const seen: Seen[] = [];
  const output: Seen["body"][] = [];
  const attestations: Seen["body"][] = [];
  const handler = async (request: Request): Promise<Response> => {
    const text = await request.text();
    const entry: Seen = {
      path: new URL(request.url).pathname,
      authorization: request.headers.get("authorization"),
      text,
      body: JSON.parse(text),
    };
    if (entry.path.endsWith("/v1/seal/attest")) {
      attestations.push(entry.body);
      return (await at.attest?.()) ?? Response.json({ status: "success", security_token: "x.y.z" });
    }
    if (entry.body.type === "dispatch_output") {
      output.push(entry.body);
      return at.noted?.() ?? Response.json({ type: "output_noted", taken: true });
    }
    const n = seen.push(entry) - 1;
    const answer = await script(entry, n);
    return answer instanceof Response ? answer : Response.json(answer);
  };
  const server =
    at.unix === undefined
      ? Bun.serve({ hostname: "127.0.0.1", port: at.port ?? 0, idleTimeout: 0, fetch: handler })
      : Bun.serve({ unix: at.unix, fetch: handler });
  return {
    url: `http://127.0.0.1:${at.unix === undefined ? server.port : 8081}`,
    seen,
    output,
    attestations,
    stop: () => server.stop(true),
  };
}

export const final = (content: string) => ({
  type: "final",
  content,
  tool_calls_executed: 0,
  conversation: [],
  finish_reason: "stop",
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  model: "default",
});

export const dispatch = (members: object) => ({
  type: "dispatch",
  dispatch_id: crypto.randomUUID(),
  action: "exec",
  iteration_number: 1,
  ...members,
});

export const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: code, code, request_id: "r" }, { status, headers });

let bundle = "";

/** The bundled bootstrap, built once as long as it is there. */
async function bundled(): Promise<string> {
  if (!existsSync(bundle)) bundle = await bundleBootstrap(scratch("bundle"));
  return bundle;
}

export interface BootstrapRun {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  readonly end: Promise<{ code: number; stdout: string; stderr: string }>;
  readonly workspace: string;
}

export interface BootstrapOptions {
  readonly prompt?: string | null;
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly omit?: readonly string[];
}

/** Starts the bundled bootstrap as its own process with exactly the environment of an instance. */
export async function startBootstrap(url: string, options: BootstrapOptions = {}): Promise<BootstrapRun> {
  const workspace = scratch("workspace");
  const env: Record<string, string> = {
    PATH: "/usr/bin:/bin",
    SVC_EXECUTION_ID: "5b1e8a52-0d7e-4c3e-9a64-2f1b6c7d8e90",
    SVC_AGENT_ID: "",
    SVC_MODEL_ALIAS: "default",
    SVC_ORCHESTRATOR_URL: url,
    SVC_EXECUTION_TOKEN: "tok-5ecret",
    AEGIS_EXECUTION_TOKEN: "tok-5ecret",
    SVC_WORKSPACE: workspace,
    ...options.env,
  };
  for (const name of options.omit ?? []) delete env[name];
  const prompt = options.prompt === undefined ? "do it" : options.prompt;
  const child = Bun.spawn([process.execPath, await bundled(), ...(prompt === null ? [] : [prompt])], {
    cwd: "/",
    env,
    stdio: [options.stdin === undefined ? "ignore" : new Blob([options.stdin]), "pipe", "pipe"],
  });
  const end = Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]).then(
    ([code, stdout, stderr]) => ({ code, stdout, stderr }),
  );
  return { pid: child.pid, kill: (signal) => child.kill(signal), end, workspace };
}

/** Runs one command through the real bootstrap and returns the result it posts. */
export async function execThroughBootstrap(
  members: object,
  options: BootstrapOptions = {},
): Promise<Record<string, unknown>> {
  const gateway = fakeGateway((_, n) => (n === 0 ? dispatch(members) : final("done")));
  try {
    const { code, stdout } = await (await startBootstrap(gateway.url, options)).end;
    if (code !== 0 || stdout !== "done\n") throw new Error(`the bootstrap ended with ${code}: ${stdout}`);
    return gateway.seen[1]?.body ?? {};
  } finally {
    await gateway.stop();
  }
}
