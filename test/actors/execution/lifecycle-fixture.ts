/** Validators and modes of executions whose lives are told. */
import type { Validator } from "../../../actors/agent/manifest/execution/results.ts";

export const lanes: Validator = { type: "json_schema", schema: {}, target_path: null, min_score: 1, min_confidence: 0 };

export const iterative = (max_iterations: number) => ({ mode: "iterative" as const, max_iterations });
