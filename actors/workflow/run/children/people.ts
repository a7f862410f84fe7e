/** What a run's log tells of the people who are asked about calls of tools. */
import type { Asked, Decided } from "../../../approval/people.ts";
import { iso } from "../../../kernel/time.ts";
import { workflowRunProtocol } from "../messages.ts";
import type { RunTurn } from "../turn.ts";

export interface PeopleNews {
  readonly asked: Asked | null;
  readonly decided: Decided | null;
}

/** Of the state at work; an item of a Map, which has no log, has its run tell it. */
export function tellPeople(run: RunTurn, { asked, decided }: PeopleNews): void {
  const { batch } = run.state.header;
  const { itemIndex: index } = run;
  if (batch === undefined || index === null) notePeople(run, { asked, decided });
  else run.tell(workflowRunProtocol, batch.run_id, "item_people", { batch: run.id, index, asked, decided });
}

/** @param index of an item of the Map at work; absent: it is the state's own call */
export function notePeople(run: RunTurn, { asked, decided }: PeopleNews, index?: number): void {
  const { name: state_name } = run.current;
  const item = index === undefined ? {} : { index };
  if (decided !== null) {
    const { approval_id, status, decision, via, decided_at } = decided;
    run.emit("HumanInputResolved", {
      message: `The approval was ${status}`,
      state_name,
      details: { approval_id, status, decision, via, decided_at, ...item },
    });
  }
  if (asked !== null) {
    const { approval_id, prompt, expires_at } = asked;
    run.emit("HumanInputRequested", {
      message: "Waiting for a decision",
      state_name,
      details: { approval_id, prompt, default_response: null, expires_at: iso(expires_at), ...item },
    });
  }
}
