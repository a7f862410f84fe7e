/** Runs that wait go on in another version of their workflow: each is asked, and decides in its own turn. */
import type { MigrateReply } from "../../../../../actors/workflow/run/messages.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import { deployedBy, ownContextProblem } from "../../../../../actors/workflow/run/start/plan-run.ts";
import type { ResolvedWorkflow } from "../../../../../actors/workflow/run/start/request.ts";
import type { Runtime } from "../../../../runtime/port.ts";
import type { AuditedBy } from "../../../audit/port.ts";
import type { RunRecords, RunRow } from "../records.ts";
import { forbiddenContextOf, type RunFactsOptions } from "../start/facts.ts";
import { type MigrateBody, type Migrated, mostRuns } from "./schema.ts";

export interface MigratingOptions extends Pick<RunFactsOptions, "definitions" | "contexts" | "starters" | "terms"> {
  readonly runtime: Runtime;
  readonly records: Pick<RunRecords, "migratable">;
}

/** States looked at for a state's name at once, and in all. */
const readAtOnce = 100;
const mostRead = 20_000;
/** Runs asked at once, and characters of definitions under way to them. */
const askedAtOnce = 32;
const mostUnderWay = 2 * 1_048_576;

export function migrating(options: MigratingOptions) {
  const { runtime, records, definitions } = options;
  const runs = runtime.of(workflowRun);

  /** The runs that are meant, newest first. */
  async function meant(tenant: string, { filter = {} }: MigrateBody, to: ResolvedWorkflow): Promise<string[]> {
    const { current_state, started_before, execution_ids } = filter;
    const found: string[] = [];
    let after: RunRow | null = null;
    for (let read = 0; read < mostRead && found.length < mostRuns; read += readAtOnce) {
      const rows: RunRow[] = await records.migratable(tenant, to.name, {
        except: to.workflow_id,
        ids: execution_ids ?? null,
        startedBefore: started_before === undefined ? null : new Date(started_before),
        after,
        limit: readAtOnce,
      });
      const ids = rows.map(({ run_id }) => run_id);
      if (current_state === undefined) found.push(...ids);
      else {
        const states = await runs.readListed(tenant, ids);
        found.push(...ids.filter((id) => states.get(id)?.current_state === current_state));
      }
      if (rows.length < readAtOnce) break;
      after = rows.at(-1) ?? null;
    }
    return found.slice(0, mostRuns);
  }

  return {
    /**
     * Repeatable: a run that is in the version already stays in it.
     * @throws Problem 404 `workflow_not_found`, 403 `security_context_forbidden`
     */
    async migrate(tenant: string, body: MigrateBody, by: AuditedBy): Promise<Migrated> {
      const { name } = await definitions.resolve({ tenant, ref: body.workflow, version: null });
      const to = await definitions.resolve({ tenant, ref: name, version: body.to_version });
      const forbidden = ownContextProblem(await forbiddenContextOf(options, tenant, to, await options.terms(tenant)));
      if (forbidden !== null) throw forbidden;
      const { workflow_id, version, definition, ceilings = [] } = to;
      const message = { to: { workflow_id, version, definition, ceilings: [...ceilings], ...deployedBy(to) }, by };
      const ids = await meant(tenant, body, to);
      const atOnce = Math.min(askedAtOnce, Math.max(1, Math.floor(mostUnderWay / JSON.stringify(definition).length)));
      const replies: (readonly [id: string, reply: MigrateReply])[] = [];
      for (let from = 0; from < ids.length; from += atOnce) {
        const some = ids.slice(from, from + atOnce);
        const asked = some.map(
          async (id) => [id, await runs.at(tenant, id).ask("migrate", message, { repeatable: true })] as const,
        );
        replies.push(...(await Promise.all(asked)));
      }
      return {
        matched: ids.length,
        migrated: replies.flatMap(([id, { outcome }]) => (outcome === "migrated" ? [id] : [])),
        refused: replies.flatMap(([execution_id, reply]) =>
          reply.outcome === "refused" ? [{ execution_id, code: reply.code, message: reply.message }] : [],
        ),
      };
    },
  };
}

export type Migrating = ReturnType<typeof migrating>;
