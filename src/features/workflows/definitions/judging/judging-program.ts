/** The process that reads, judges and masks manifests of workflows which may take long. */
import { judgeWorkflow } from "../../../../../actors/workflow/manifest/manifest.ts";
import { parseWorkflow } from "../../../../../actors/workflow/manifest/parse.ts";
import { judged } from "../../../../lib/guarded/judging.ts";
import { serveGuarded } from "../../../../lib/guarded/serve.ts";
import { type JudgingJob, mask } from "./judging.ts";

await serveGuarded((job: JudgingJob) =>
  judged<unknown>(() => {
    switch (job.do) {
      case "parse":
        return parseWorkflow(job.text);
      case "judge":
        return judgeWorkflow(job.document, job.offer);
      case "mask":
        return mask(job.text);
    }
  }),
);
