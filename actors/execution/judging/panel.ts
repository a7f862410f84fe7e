/**
 * The judges of one question, asked side by side, and what they find together.
 *
 * A judge has a verdict, or has failed: it could not be started, did not complete, gave no verdict, or took
 * too long. A single judge (`semantic`) without verdict is asked once more. A panel never waits for ever:
 * a timer ends it even if its children never answer.
 */
import type { Json } from "../../kernel/json.ts";
import type { Measurement } from "../activities.ts";
import type { ChildInput, ChildRole } from "../child.ts";
import { dismissChildren, type Ended, startChild } from "../children.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { consensusOf } from "./consensus.ts";
import { readVerdict } from "./judge-verdict.ts";
import type { Panel, PanelRule } from "./panel-state.ts";
import type { Found } from "./validator-result.ts";

const maxAttempts = 2;
/** A judge's own timeout ends it; the panel's timer is for an end that is never told. */
const overdueMarginMs = 30_000;
const maxFeedbackBytes = 4096;

/** Asks every judge. */
export function startPanel(
  turn: ExecutionTurn,
  role: ChildRole,
  rule: PanelRule,
  input: ChildInput,
  attempt = 1,
): Panel {
  const id = turn.context.newId();
  const request = { timeout_ms: rule.timeout_ms, input };
  const seats = rule.judges.map(({ agent, weight }) => {
    const execution_id = startChild(turn, role, id, { agent, ...request });
    return { agent, weight, execution_id, open: true, verdict: null, failure: null };
  });
  const overdueAt = turn.context.now + rule.timeout_ms + overdueMarginMs;
  turn.schedule(panelTimer(id), overdueAt, "panel_overdue", { panel_id: id });
  return { id, attempt, input, seats };
}

/** Where a panel stands: it goes on, is asked again, or has a finding. */
export type PanelProgress = { readonly panel: Panel } | { readonly found: Found };

/** A judge is over. */
export function judgeEnded(turn: ExecutionTurn, rule: PanelRule, panel: Panel, ended: Ended): PanelProgress {
  const seat = panel.seats.find(({ execution_id }) => execution_id === ended.child.id);
  if (seat === undefined) return { panel };
  const verdict = ended.status === "completed" ? readVerdict(ended.output ?? "") : null;
  seat.open = false;
  seat.verdict = verdict === null || rule.consensus === null ? verdict : { ...verdict, signals: [], metadata: {} };
  seat.failure = verdict === null ? failureOf(ended) : null;
  return proceed(turn, rule, panel, ended.child.role, ended.status === "refused");
}

/** The time of the panel is up: a judge that has not answered has failed. */
export function panelOverdue(turn: ExecutionTurn, role: ChildRole, rule: PanelRule, panel: Panel): PanelProgress {
  dismissChildren(turn, panel.id, "judge_timeout");
  for (const seat of panel.seats.filter(({ open }) => open)) {
    seat.open = false;
    seat.failure = "timed_out";
  }
  return proceed(turn, rule, panel, role, false);
}

/** The question no longer matters. */
export function dismissPanel(turn: ExecutionTurn, panel: Panel): void {
  turn.cancelTimer(panelTimer(panel.id));
  dismissChildren(turn, panel.id, "no_longer_needed");
}

const panelTimer = (panelId: string): string => `panel:${panelId}`;

function failureOf({ status, error_code }: Ended): string {
  if (status === "completed") return "no_verdict";
  return error_code ?? status;
}

/** @param final whether asking once more could not help */
function proceed(turn: ExecutionTurn, rule: PanelRule, panel: Panel, role: ChildRole, final: boolean): PanelProgress {
  if (panel.seats.some(({ open }) => open)) return { panel };
  turn.cancelTimer(panelTimer(panel.id));
  const judged = panel.seats.filter(({ verdict }) => verdict !== null);
  if (rule.consensus === null && judged.length === 0 && panel.attempt < maxAttempts && !final) {
    return { panel: startPanel(turn, role, rule, panel.input, panel.attempt + 1) };
  }
  return { found: rule.consensus === null ? singleVerdict(panel) : consensusVerdict(turn, rule.consensus, panel) };
}

function singleVerdict({ seats }: Panel): Found {
  const [seat] = seats;
  const { agent: judge = "", execution_id = "", verdict = null, failure = null } = seat ?? {};
  if (verdict === null) {
    const details = { reason: "judge_no_verdict", judge, execution_id, failure };
    return { ...without("judge_no_verdict", `${judge} gave no verdict (${failure ?? "no_verdict"})`), details };
  }
  const { score, confidence, reasoning, signals, metadata } = verdict;
  const details: Json = { judge, execution_id, reasoning, signals, metadata };
  return { score, confidence, feedback: reasoning === "" ? null : reasoning, details };
}

function consensusVerdict(turn: ExecutionTurn, rule: NonNullable<PanelRule["consensus"]>, panel: Panel): Found {
  const results = panel.seats.flatMap(({ agent: judge, execution_id, weight, verdict }) =>
    verdict === null
      ? []
      : [
          {
            judge,
            execution_id,
            score: verdict.score,
            confidence: verdict.confidence,
            reasoning: verdict.reasoning,
            weight,
          },
        ],
  );
  const failed = panel.seats
    .filter(({ verdict }) => verdict === null)
    .map(({ agent: judge, execution_id, failure }) => ({ judge, execution_id, reason: failure ?? "no_verdict" }));
  const known = { strategy: rule.strategy, individual_results: results, failed_judges: failed };
  if (results.length < rule.min_judges_required || results.length === 0) {
    const said = `${results.length} of ${panel.seats.length} judges gave a verdict, ${rule.min_judges_required} are required`;
    const details = { reason: "insufficient_verdicts", ...known, final_score: 0, consensus_confidence: 0 };
    return { ...without("insufficient_verdicts", said), details };
  }
  const { score, confidence } = consensusOf(rule, results);
  turn.emit("multi_judge_consensus", {
    iteration_number: turn.iteration.number,
    judge_scores: results.map(({ execution_id, score: one }): [string, number] => [execution_id, one]),
    final_score: score,
    confidence,
    reached_at: turn.at,
  });
  const reasons = results.filter(({ reasoning }) => reasoning !== "").map((one) => `${one.judge}: ${one.reasoning}`);
  return {
    score,
    confidence,
    feedback: reasons.length === 0 ? null : trimText(reasons.join("\n"), maxFeedbackBytes),
    details: { ...known, final_score: score, consensus_confidence: confidence },
  };
}

/** No judge answered, so nothing passes, even where a score of 0 would be enough. */
function without(code: string, said: string): Omit<Measurement, "details"> & { readonly void: true } {
  return { score: 0, confidence: 0, feedback: `${code}: ${said}`, void: true };
}
