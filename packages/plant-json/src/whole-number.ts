import type { JsonNumber } from './exact-json.js';

const PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** 10^19 is outside of int64, so no id has more digits than this before its decimal point. */
const MAX_DIGITS = 19;

/**
 * Returns the whole number that a JSON number represents; `undefined` when it is not whole, or has more than 19
 * digits. `1.0` and `1e3` are whole (JSON Schema 2020-12, "integer"). Uses the digits only, so that `1e1000000000`
 * costs no more than `1`.
 */
export function toWholeNumber({ text }: JsonNumber): bigint | undefined {
  if (!/[.eE]/.test(text)) return text.length <= MAX_DIGITS + 1 ? BigInt(text) : undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = PARTS.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return 0n;
  const trailingZeros = digits.length - significant.length;
  const zeros = Number(exponent) - fraction.length + trailingZeros;
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
  return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`);
}

/** The regular expression `/0+$/` would take quadratic time for a long row of zeros before another digit. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
