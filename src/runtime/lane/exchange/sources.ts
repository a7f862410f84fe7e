/** The sources of messages: `n<node>`, `p<partition>`, and `n<node>.<number>` for a message that was told. */

/** The last number taken of each source. */
export type Received = Map<string, number>;

/** Whether a source is a message that was told, under a name of its own. */
export const isTold = (source: string): boolean => source.startsWith("n") && source.includes(".");
