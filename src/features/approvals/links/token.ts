/** Tokens of decision links: 256 bits that only their recipient has. What is stored is their hash. */
import { createHash, randomBytes } from "node:crypto";

export const tokenPattern = "^[A-Za-z0-9_-]{43}$";

export const newToken = (): string => randomBytes(32).toString("base64url");

/** SHA-256 in hex. */
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Where a token is used. */
export const linkTo = (publicUrl: string, token: string): string => `${publicUrl}/v1/approval-links/${token}`;
