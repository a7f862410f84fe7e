/** Of one expression of a Wait on one stimulus: the same as it arrives and in the look back, so that both find the same. */
export const matchSteps = 50_000;
