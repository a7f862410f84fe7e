/** Puts on record which states of runs took a stimulus, in the commit of the turn that takes it. */
import type { Static } from "@sinclair/typebox";
import { stimulusTaken } from "../../../../actors/workflow/run/activities/stimulus.ts";
import type { FactWriter } from "../../../runtime/port.ts";

const insert = `
insert into stimulus_takers (tenant, stimulus_id, taker, state_name, run_id, taken_at)
select tenant, stimulus_id, taker, state_name, run_id, to_timestamp(at / 1000.0)
from json_to_recordset($1::text::json) as t (tenant text, stimulus_id uuid, taker uuid, state_name text, run_id uuid,
  at bigint)
on conflict (tenant, stimulus_id, taker, state_name) do nothing`;

export const takerFacts: FactWriter = {
  name: stimulusTaken.name,
  write: (facts) => [
    {
      text: insert,
      parameters: [
        JSON.stringify(
          // Actors make them by the definition alone.
          facts.map(({ tenant, at, fact }) => ({ ...(fact as Static<typeof stimulusTaken.fact>), tenant, at })),
        ),
      ],
    },
  ],
};
