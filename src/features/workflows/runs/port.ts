/** The answer to a start. */
export interface StartedRun {
  readonly execution_id: string;
  readonly id: string;
  readonly workflow_id: string;
  readonly workflow_name: string;
  readonly version: string;
  readonly status: "running";
  readonly started_at: string;
  readonly temporal_workflow_id: string;
  readonly temporal_run_id: string;
}
