import type { Plant } from './check-response.js';

/** The expected response to a body, determined without the code of the service. */
export type Verdict =
  | { readonly error: 4001 | 4004 | 4005 }
  | { readonly id: bigint; readonly plant: Plant };

const MAX_DEPTH = 32;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Returns the verdict on any bytes, up to 16 KiB. */
export function verdictOn(body: Uint8Array): Verdict {
  if (body.length === 0) return { error: 4001 };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    const value: unknown = JSON.parse(text);
    const numbers = strictlyRead(text);
    return verdictOnValue(value, numbers) ?? { error: 4005 };
  } catch {
    return { error: 4004 };
  }
}

/** Returns the whole number of int64 that a JSON number represents; `undefined` when it represents none. */
export function wholeNumber(spelling: string): bigint | undefined {
  const parts = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(spelling);
  if (parts === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = BigInt(whole + fraction);
  const shift = BigInt(exponent) - BigInt(fraction.length);
  if (digits === 0n) return 0n;
  if (shift > 20n || shift < BigInt(-spelling.length)) return undefined;
  const value = shift >= 0n ? digits * 10n ** shift : digits / 10n ** -shift;
  const exact = shift >= 0n || value * 10n ** -shift === digits;
  return exact && BigInt.asIntN(64, value) === value ? value : undefined;
}

function verdictOnValue(value: unknown, numbers: ReadonlyMap<string, string>): Verdict | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { name, tag }: { name?: unknown; tag?: unknown } = { ...value };
  const id = wholeNumber(numbers.get('id') ?? '');
  if (id === undefined || typeof name !== 'string') return undefined;
  if (!Object.hasOwn(value, 'tag')) return { id, plant: { name } };
  return typeof tag === 'string' ? { id, plant: { name, tag } } : undefined;
}

/**
 * Returns the scalars of the outermost object of a text that `JSON.parse` accepts, in their spelling. Throws for what
 * `JSON.parse` wrongly accepts: a repeated name, a lone surrogate, deep nesting.
 */
function strictlyRead(text: string): Map<string, string> {
  const spelled = new Map<string, string>();
  const open: (Set<string> | undefined)[] = [];
  let before = '';
  let name = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    if (token === '[') open.push(undefined);
    if (open.length > MAX_DEPTH) throw new Error('too deep');
    if (token === '}' || token === ']') open.pop();
    const names = open.at(-1);
    if (token.startsWith('"')) {
      const string: string = JSON.parse(token);
      if (!string.isWellFormed()) throw new Error('lone surrogate');
      if (names !== undefined && before !== ':') {
        if (names.has(string)) throw new Error('name twice');
        names.add(string);
        name = string;
      }
    }
    if (open.length === 1 && before === ':') spelled.set(name, token);
    before = token;
  }
  return spelled;
}
