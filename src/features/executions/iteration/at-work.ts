/** How many executions have an instance on this node. */
import type { Activity } from "../../../runtime/port.ts";

export interface AtWork {
  /** Has a run of the activity counted while it lasts. */
  counting(activity: Activity): Activity;
  running(): number;
}

export function createAtWork(): AtWork {
  let running = 0;
  return {
    counting: (activity) => ({
      ...activity,
      async run(input, context) {
        running += 1;
        try {
          return await activity.run(input, context);
        } finally {
          running -= 1;
        }
      },
    }),
    running: () => running,
  };
}
