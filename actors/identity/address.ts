/** Addresses of mail, as svc compares them. */

/** Letters of ASCII alone are alike in both cases: other foldings make two mailboxes of different people one. */
export const foldedAddress = (address: string): string => address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether a proven address is that of a record. @param proven null: the caller has none, and is no address's owner */
export const isAddress = (proven: string | null, recorded: string | null): boolean =>
  proven !== null && recorded !== null && foldedAddress(proven) === foldedAddress(recorded);
