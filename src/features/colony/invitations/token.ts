/** What an invited person has: 256 random bits. What is stored of them is their hash. */
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../../../lib/digest.ts";

export const newToken = (): string => randomBytes(32).toString("base64url");

/** SHA-256 in hex. */
export const hashOf = (token: string): string => sha256Hex(token);
