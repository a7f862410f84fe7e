/** Writes what turns of executions state of lost iterations, in the statement that commits the turns. */
import { type Lesson, lessonFact } from "../../../actors/cortex/lesson.ts";
import type { Fact, FactWriter } from "../../runtime/port.ts";

const insert = `
insert into cortex_lessons (tenant, at, execution_id, iteration_number, kind, error_type, content, is_last)
select tenant, to_timestamp(at), execution_id, iteration_number, kind, error_type, content, is_last
from json_to_recordset($1::text::json) as r (tenant text, at double precision, execution_id uuid,
  iteration_number integer, kind text, error_type text, content text, is_last boolean)`;

/** @param written told that there is something to fold; null: nothing is recorded here */
export function lessonFacts(written: (() => void) | null): FactWriter {
  return {
    name: lessonFact.name,
    write(facts) {
      if (written === null) return [];
      written();
      return [{ text: insert, parameters: [JSON.stringify(facts.map(rowOf))] }];
    },
  };
}

function rowOf({ tenant, at, fact }: Fact) {
  // Actors make them by the definition alone.
  const lesson = fact as Lesson;
  const { execution_id, iteration_number, kind } = lesson;
  const lost = lesson.kind === "lost" ? lesson : null;
  return {
    tenant,
    at: at / 1000,
    execution_id,
    iteration_number,
    kind,
    error_type: lost?.error_type ?? null,
    content: lesson.kind === "lost" ? lesson.message : lesson.answer,
    is_last: lost?.is_last ?? true,
  };
}
