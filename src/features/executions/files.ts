/** The files of an execution as people read them, while it runs and after (docs/reference/executions.md). */
import { Type } from "@sinclair/typebox";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import { type ExecutionState, isOver } from "../../../actors/execution/state.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { defineRoute, type Route, uuidParam } from "../../http/route.ts";
import type { ViewSpec } from "../tools/fs/port.ts";
import type { Volumes } from "../volumes/port.ts";
import {
  answering,
  FileEntry,
  fileContent,
  fileEntry,
  listFiles,
  type OpenedFile,
  openForReading,
  readPath,
  sendableFile,
  sendFile,
  statEtag,
  typeOfName,
} from "../volumes/port.ts";
import type { Plans } from "./plans.ts";
import type { Executions, Found } from "./service.ts";

export interface ExecutionFilesOptions {
  readonly executions: Pick<Executions, "find">;
  readonly plans: Plans;
  readonly volumes: Pick<Volumes, "readingView" | "bring">;
  readonly now: () => number;
}

/** Entries of one answer; a caller who wants more asks for a directory further down. */
const maxEntries = 10_000;
const ExecutionId = { id: uuidParam("invalid_execution_id", "Invalid execution ID") };
const Files = Type.Object({
  items: Type.Array(FileEntry),
  entries: Type.Array(FileEntry),
  count: Type.Integer(),
  /** There are more than one answer holds. */
  truncated: Type.Boolean(),
});

/** The files of an execution as its readers see them. */
export type ExecutionFiles = ReturnType<typeof createExecutionFiles>;

export function createExecutionFiles({ executions, plans, volumes, now }: ExecutionFilesOptions) {
  async function viewOf(found: Found, signal: AbortSignal | null): Promise<ViewSpec | null> {
    const plan = await plans.of(found.at);
    await volumes.bring(found.at.tenant, plan.mounts, isOver(found.state), signal);
    const view = volumes.readingView(plan.mounts);
    return view ?? absent(found.state, plan, now());
  }

  return {
    /**
     * What a directory holds, at most 10,000 entries.
     * @param path a leading `/` and `workspace/` may be there or not
     * @throws Problem 404 `execution_not_found`, `path_not_found`, 410 `workspace_expired`, 422 `invalid_path`, 503
     */
    async list(tenant: string, executionId: string, path: string, recursive: boolean, signal: AbortSignal) {
      const inside = insidePath(path);
      const view = await viewOf(await executions.find(tenant, executionId), signal);
      if (view === null) return answer([], false);
      const job = { view, path: inside, recursive, limit: maxEntries, after: null };
      const { entries, more } = await answering(() => listFiles(tenant, job, signal));
      return answer(
        entries.map((entry) => fileEntry({ ...entry, path: shownPath(entry.path), content: null })),
        more,
      );
    },

    /**
     * Opens a file; the caller closes it.
     * @throws Problem as `list`, and 422 `is_a_directory`
     */
    async open(tenant: string, executionId: string, path: string): Promise<OpenedFile> {
      const inside = insidePath(path);
      const view = await viewOf(await executions.find(tenant, executionId), null);
      if (view === null) throw new Problem("path_not_found", "Path not found");
      return answering(() => openForReading(view, inside));
    },
  };
}

export function executionFileRoutes(files: ExecutionFiles): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/executions/:id/files",
      summary: "The files of an execution",
      scope: "execution:read",
      params: Type.Object(ExecutionId),
      query: Type.Object({
        path: Type.String({ default: "/", maxLength: 8192 }),
        recursive: Type.Boolean({ default: false }),
      }),
      responses: { 200: Files },
      refusals: ["execution_not_found", "path_not_found", "workspace_expired", "invalid_path"],
      handler: (call) => files.list(call.tenant, call.params.id, call.query.path, call.query.recursive, call.signal),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/executions/:id/files/*",
      summary: "One file of an execution",
      scope: "execution:read",
      params: Type.Object({
        ...ExecutionId,
        "*": Type.String({ "x-code": "invalid_path", "x-message": "Invalid path" }),
      }),
      responses: fileContent,
      refusals: [
        "execution_not_found",
        "path_not_found",
        "range_not_satisfiable",
        "workspace_expired",
        "invalid_path",
        "is_a_directory",
      ],
      handler: async (call) => {
        const file = await files.open(call.tenant, call.params.id, call.params["*"]);
        // Content of an agent is never shown as a page of ours: see the headers of `sendFile`.
        return sendFile(call.request, sendableFile(file), { type: typeOfName(file.name), etag: statEtag(file.stats) });
      },
    }),
  ];
}

function answer(entries: readonly FileEntry[], truncated: boolean) {
  return { items: entries, entries, count: entries.length, truncated };
}

/** A leading `/` and `workspace/` may be there or not. @throws Problem 422 `invalid_path` */
function insidePath(text: string): string {
  const path = readPath(text);
  if (path === "/workspace" || path.startsWith("/workspace/")) return path;
  return path === "/" ? "/workspace" : `/workspace${path}`;
}

/** As the route takes it. */
const shownPath = (path: string): string => path.slice("/workspace".length);

/**
 * The run's directory is not on this host.
 * @returns null when there never was one
 * @throws Problem 410 `workspace_expired`, 503 when it must be on another host
 */
function absent(state: ExecutionState, { mounts }: Plan, now: number): null {
  // An agent with nothing to run writes nothing.
  if (mounts.length === 0) return null;
  const ttlMs = mounts.find(({ mount_path }) => mount_path === "/workspace")?.ttl_ms ?? 0;
  if (state.ending !== null && now - state.ending.at >= ttlMs) {
    throw new Problem("workspace_expired", "The files of this execution are not kept any more");
  }
  if (!state.iteration.spawned && state.iteration.number === 1) return null;
  const message = isOver(state)
    ? "The files of this execution lie on another host"
    : "The files are not reachable here";
  throw new Problem("service_unavailable", message, {}, { "Retry-After": "5" });
}
