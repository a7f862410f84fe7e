/** Classification: a router agent says which workflow a stimulus goes to. */
import { integer } from "../../../config/setting.ts";
import { executions } from "../../executions/feature.ts";
import { defineFeature } from "../../feature.ts";
import { definitions } from "../../workflows/definitions/feature.ts";
import { sources } from "../sources/feature.ts";
import { createClassifier } from "./classify.ts";

export const classification = defineFeature({
  name: "stimuli/classification",
  needs: { sources, executions, definitions },
  settings: {
    maxClassifications: integer("SVC_MAX_CLASSIFICATIONS", {
      meaning: "stimuli that a node has router agents classify at once, a quarter of them of one tenant; more wait",
      unit: "stimuli",
      min: 1,
      max: 4096,
      default: 512,
    }),
  },
  open({ settings, sql, redisServers, prefix, runtime, now, newId, info }, { sources, executions, definitions }) {
    const classifier = createClassifier({
      sql,
      redisServers,
      prefix,
      executions,
      runtime,
      choices: definitions.choices,
      sourceOf: sources.sourceOf,
      concurrency: settings.maxClassifications,
      now,
      newId,
      report: info,
    });
    return {
      service: { classify: classifier.classify, leave: () => classifier.close() },
      jobs: [
        () => {
          classifier.work();
          return () => classifier.close();
        },
      ],
      redisLost: classifier.redisLost,
      // It holds connections from its opening on, also on a node whose start failed before the job began.
      close: () => classifier.close(),
    };
  },
});
