/**
 * What a server answered, as a test looks into it: its schema is checked elsewhere, and a member that is not there is
 * `undefined`, on which the expectation fails.
 */
// biome-ignore lint/suspicious/noExplicitAny: narrowing each body would say again what the expectations say
export type LooseJson = any;
