/**
 * The working directory of a command against the path rules of its caller. A rule names paths; a link that stands at such
 * a path may lead elsewhere, so the directory is looked at where it really is.
 */
import { execution } from "../../../actors/execution/execution.ts";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import { View, type ViewSpec } from "../tools/fs/port.ts";
import { type CallBounds, ToolFailure } from "../tools/port.ts";
import type { Plans } from "./plans.ts";

export interface DirectoryOptions {
  readonly plans: Plans;
  readonly view: (plan: Plan) => Promise<ViewSpec>;
}

/** Where a command of an execution is to run. */
export interface WorkingDirectory {
  readonly tenant: string;
  readonly executionId: string;
  readonly cwd: string;
  readonly pathRules: CallBounds["pathRules"];
}

/** @throws ToolRefusal where a link leads the working directory out of what the allowlists cover */
export type RequireListed = (directory: WorkingDirectory) => Promise<void>;

export const requireListed =
  ({ plans, view }: DirectoryOptions): RequireListed =>
  async ({ tenant, executionId, cwd, pathRules }) => {
    if (pathRules.length === 0 || !/^\/workspace(\/|$)/.test(cwd)) return;
    const spec = await view(await plans.of({ kind: execution.kind, key: executionId, tenant }));
    try {
      using opened = new View({ ...spec, allowed: pathRules });
      opened.at(cwd, { access: "see" }, () => {});
    } catch (error) {
      // A directory that is not there is for the command to say; of one that cannot be looked at nothing is known.
      if (!(error instanceof ToolFailure) || !["not_found", "not_a_directory"].includes(error.code)) throw error;
    }
  };
