/** The process that reads and judges manifests of agents which may take long. */
import { judged } from "../../../lib/guarded/judging.ts";
import { serveGuarded } from "../../../lib/guarded/serve.ts";
import { type JudgingJob, judge, parse } from "./judging.ts";

await serveGuarded((job: JudgingJob) =>
  judged<unknown>(() => {
    if (job.do === "parse") return parse(job.source, job.isPatch);
    const { served, ...offer } = job.offer;
    return judge(job.document, job.yaml, { ...offer, servesModel: (alias) => served.includes(alias) });
  }),
);
