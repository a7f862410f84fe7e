/** Reading what executions learned, tenant first. */
import { rateOf, skillOf } from "../../../actors/cortex/skills.ts";
import { storableText } from "../../../actors/kernel/text.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { CortexMetrics, CortexPattern, CortexSkill, PatternFilter } from "./schema.ts";

export interface CortexRecords {
  /** Newest first. A search reads the tenant's patterns, whose number is bounded. */
  patterns(tenant: string, filter: PatternFilter, page: Page): Promise<List<"patterns", CortexPattern>>;
  /** Those with the most patterns first. */
  skills(tenant: string, limit: number): Promise<readonly CortexSkill[]>;
  counts(tenant: string): Promise<Omit<CortexMetrics, "metric_type" | "generated_at">>;
}

interface Row {
  readonly id: string;
  readonly error_signature: string;
  readonly error_signature_hash: string;
  readonly error_type: string;
  readonly error_message: string;
  readonly solution: string | null;
  readonly solution_code: string | null;
  readonly frequency: number;
  readonly success_count: number;
  readonly total_count: number;
  readonly created_at: Date;
  readonly last_used_at: Date;
  /** `created_at` to the microsecond, as text. */
  readonly position: string;
}

export function createCortexRecords(sql: Sql): CortexRecords {
  return {
    async patterns(tenant, filter, page) {
      const conditions = [sql`tenant = ${tenant}`];
      const wanted = filter.q ?? filter.query;
      if (wanted !== undefined && wanted !== "") {
        const like = `%${storableText(wanted).replace(/[\\%_]/g, "\\$&")}%`;
        conditions.push(sql`(error_message ilike ${like} or error_signature ilike ${like} or solution ilike ${like})`);
      }
      if (filter.error_type !== undefined) conditions.push(sql`error_type = ${storableText(filter.error_type)}`);
      if (page.after !== null) {
        const [position = "", id = ""] = page.after;
        // A cursor that was tampered with finds nothing.
        if (!/^\d{1,17}$/.test(position) || !isUuid(id)) return listOf("patterns", [], page, () => []);
        const at = sql`timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond'`;
        conditions.push(sql`(created_at, id) < (${at}, ${id}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      const rows = await sql<Row[]>`
        select id, error_signature, error_signature_hash, error_type, error_message, solution, solution_code,
          frequency::float8, success_count::float8, total_count::float8, created_at, last_used_at,
          (extract(epoch from created_at) * 1000000)::bigint::text as position
        from cortex_patterns where ${where}
        order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
      const positions = new Map(rows.map(({ id, position }) => [id, position]));
      return listOf("patterns", rows.map(shown), page, ({ id }) => [positions.get(id) ?? "", id]);
    },

    async skills(tenant, limit) {
      const sums = await sql<Parameters<typeof skillOf>[0][]>`
        select error_type, count(*)::float8 as patterns, (count(*) filter (where success_count > 0))::float8 as solved,
          sum(frequency)::float8 as frequency, sum(success_count)::float8 as successes, sum(total_count)::float8 as total
        from cortex_patterns where tenant = ${tenant}
        group by error_type order by patterns desc, error_type limit ${limit}`;
      return sums.map((sum) => {
        const skill = skillOf(sum);
        const { pattern_count: patternCount, usage_count: usageCount, success_rate: successRate } = skill;
        const id = derivedUuid(JSON.stringify(["skill", tenant, sum.error_type]));
        return { id, ...skill, patternCount, usageCount, successRate };
      });
    },

    async counts(tenant) {
      const [found] = await sql<{ patterns: number; solved: number; skills: number; rate: number; times: number }[]>`
        select count(*)::float8 as patterns, (count(*) filter (where success_count > 0))::float8 as solved,
          count(distinct error_type)::float8 as skills,
          coalesce(avg(least(1, success_count::float8 / greatest(total_count, 1))), 0)::float8 as rate,
          coalesce(sum(frequency), 0)::float8 as times
        from cortex_patterns where tenant = ${tenant}`;
      const { patterns, solved, skills, rate, times } = found ?? {
        patterns: 0,
        solved: 0,
        skills: 0,
        rate: 0,
        times: 0,
      };
      return {
        pattern_count: patterns,
        totalPatterns: patterns,
        solution_count: solved,
        skill_count: skills,
        totalSkills: skills,
        avg_success_rate: rate,
        avgSuccessRate: rate,
        total_frequency: times,
        totalFrequency: times,
      };
    },
  };
}

function shown({ position: _, created_at, last_used_at, ...row }: Row): CortexPattern {
  const rate = rateOf(row.success_count, row.total_count);
  return {
    ...row,
    solution_approach: row.solution,
    success_rate: rate,
    success_score: rate,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at.toISOString(),
  };
}
