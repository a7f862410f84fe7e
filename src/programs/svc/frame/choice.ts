/** The values that an option takes, as the API's own type of them. */

/** Commander has refused every other text. @returns undefined where nothing was given */
export const oneOf = <const T extends readonly string[]>(values: T, text: string | undefined): T[number] | undefined =>
  values.find((value) => value === text);
