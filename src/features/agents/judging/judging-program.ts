/** The process that reads and judges manifests of agents which may take long. */
import { judged } from "../../../lib/guarded/judging.ts";
import { serveGuarded } from "../../../lib/guarded/serve.ts";
import { type JudgingJob, judge, offerFrom, parse } from "./judging.ts";

await serveGuarded((job: JudgingJob) =>
  judged<unknown>(() => {
    if (job.do === "parse") return parse(job.source, job.isPatch);
    return judge(job.document, job.yaml, offerFrom(job.offer));
  }),
);
