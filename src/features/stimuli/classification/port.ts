/** What other features may use of stimuli/classification. */
export type { Classifier } from "./classify.ts";
