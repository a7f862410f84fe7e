/** Sets a sample to work: deploys what it needs, sends its requests, and tells where it is seen to run. */
import { answer, type Schemas, yamlBody } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";

export type Sample = Schemas["Sample"];

/** What is there already, from an earlier start, serves as well. */
const isThere = (error: unknown): boolean => error instanceof ApiError && error.status === 409;

async function deploy({ kind, name, yaml }: Sample["manifests"][number]): Promise<string> {
  try {
    const call =
      kind === "agent"
        ? answer(svc.POST("/v1/agents", yamlBody(yaml)))
        : answer(svc.POST("/v1/workflows", yamlBody(yaml)));
    const made = await call;
    return "id" in made ? made.id : "";
  } catch (error) {
    if (!isThere(error)) throw error;
    if (kind === "workflow") return "";
    return (await answer(svc.GET("/v1/agents/lookup/{name}", { params: { path: { name } } }))).agent_id;
  }
}

const textIn = (value: unknown, name: string): string | null => {
  if (typeof value !== "object" || value === null) return null;
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return typeof found === "string" && found !== "" ? found : null;
};

/**
 * @param tell told before each step
 * @returns the page of the console that shows it run
 * @throws ApiError, Unreachable
 */
export async function startSample(sample: Sample, tell: (step: string) => void): Promise<string> {
  let first: string | null = null;
  for (const manifest of sample.manifests) {
    tell(`Deploying ${manifest.name}`);
    const id = await deploy(manifest);
    first ??= id;
  }
  let last: unknown = null;
  for (const { method, path, body, summary } of sample.requests) {
    tell(summary);
    try {
      const response = await svc.send(path.replace("{agent_id}", encodeURIComponent(first ?? "")), {
        method,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      last = await response.json();
    } catch (error) {
      if (!isThere(error)) throw error;
    }
  }
  return pageOf(sample.kind, last);
}

function pageOf(kind: Sample["kind"], last: unknown): string {
  const execution = textIn(last, "execution_id");
  const stimulus = textIn(last, "stimulus_id") ?? textIn(last, "id");
  if (kind === "agent") return `/executions/${execution ?? ""}`;
  if (kind === "workflow") return `/runs/${execution ?? ""}`;
  const run = textIn(last, "workflow_execution_id") ?? execution;
  return run !== null ? `/runs/${run}` : `/stimuli/${stimulus ?? ""}`;
}
