/**
 * Which 32 bytes are a point of edwards25519 that a key may be. Native libraries decode a key when it is used, and take
 * points of small order, with which one signature passes for many messages.
 */

const p = 2n ** 255n - 19n;
/** The curve is −x² + y² = 1 + d·x²·y². */
const d = modulo(-121_665n * power(121_666n, p - 2n));

/** Whether they are the one encoding of a point of the curve whose order is not small. */
export function isSoundPoint(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  let y = 0n;
  for (const byte of bytes.toReversed()) y = (y << 8n) | BigInt(byte);
  y &= 2n ** 255n - 1n;
  if (y >= p || smallOrderYs().has(y)) return false;
  // x² = (y² − 1) / (d·y² + 1) has a root. x = 0 is of small order, so that the sign always stands for one of two roots.
  const squared = modulo(y * y);
  const quotient = modulo((squared - 1n) * power(modulo(d * squared + 1n), p - 2n));
  return power(quotient, (p - 1n) / 2n) === 1n;
}

let knownYs: ReadonlySet<bigint> | null = null;

/**
 * The y of the eight points whose order divides 8: ±1 (orders 1 and 2), 0 (order 4), and the four of order 8, where
 * doubling gives y = 0: there x² = −y², so that d·y⁴ + 2·y² − 1 = 0 by the equation of the curve.
 */
function smallOrderYs(): ReadonlySet<bigint> {
  if (knownYs !== null) return knownYs;
  const root = squareRoot(modulo(1n + d));
  const ofOrder8 = [root - 1n, -root - 1n]
    .map((top) => modulo(top * power(d, p - 2n)))
    .filter((square) => power(square, (p - 1n) / 2n) === 1n)
    .flatMap((square) => [squareRoot(square), p - squareRoot(square)]);
  knownYs = new Set([0n, 1n, p - 1n, ...ofOrder8]);
  return knownYs;
}

/** A root of a square; p is 5 modulo 8. */
function squareRoot(square: bigint): bigint {
  const candidate = power(square, (p + 3n) / 8n);
  return modulo(candidate * candidate) === square ? candidate : modulo(candidate * power(2n, (p - 1n) / 4n));
}

function modulo(value: bigint): bigint {
  const rest = value % p;
  return rest < 0n ? rest + p : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = modulo(base);
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = modulo(result * square);
    square = modulo(square * square);
  }
  return result;
}
