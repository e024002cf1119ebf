import { createHash } from 'node:crypto';
import { expect } from 'chai';

/** The length of the shortest part of a token that must stay secret, in characters. */
export const MIN_PART_LENGTH = 8;

const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

/** Returns a secret and its digests, in each encoding. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const digests = ['sha256', 'sha512', 'sha1', 'md5'].map((algorithm) =>
    createHash(algorithm).update(bytes).digest(),
  );
  const encoded = [bytes, ...digests].flatMap((it) => ENCODINGS.map((name) => it.toString(name)));
  const inForm = new URLSearchParams({ secret }).toString().slice('secret='.length);
  return [secret, encodeURIComponent(secret.toWellFormed()), inForm, ...encoded];
}

/**
 * Returns a token, its parts, and its digests, in each encoding.
 *
 * @param isFormat Whether a part is no secret, because every token of the kind has it.
 */
export function secretsOf(token: string, isFormat = (_part: string) => false): string[] {
  const parts = Array.from(
    { length: Math.max(0, token.length - MIN_PART_LENGTH + 1) },
    (_, start) => token.slice(start, start + MIN_PART_LENGTH),
  );
  return [...parts.filter((part) => !isFormat(part)), ...formsOf(token)];
}

/**
 * Fails when a secret is anywhere in a value: in its text, causes, hidden properties or bytes.
 *
 * @param what The value, for the failure, which shows the property with the secret.
 */
export function expectNoSecret(value: unknown, secrets: readonly string[], what = 'it'): void {
  const texts = textsIn(value, what);
  const all = texts.map(({ text }) => text).join('\n');
  const secret = secrets.find((it) => all.includes(it));
  if (secret === undefined) return;
  const found = texts.filter(({ text }) => text.includes(secret));
  const [shortest] = found.sort((a, b) => a.text.length - b.text.length);
  const { path = what, text = all } = shortest ?? {};
  expect.fail(`${path} reveals ${JSON.stringify(secret)}: ${JSON.stringify(text)}`);
}

interface Text {
  /** Such as `the error.cause.message`. */
  readonly path: string;
  readonly text: string;
}

/** Returns every string that can be reached from a value. */
function textsIn(value: unknown, path: string, seen = new Set<unknown>()): Text[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value === 'symbol') return [{ path, text: value.description ?? '' }];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (ArrayBuffer.isView(value)) return [{ path, text: bytesOf(value).toString('latin1') }];
  const entries = value instanceof Map || value instanceof Set ? [...value] : [];
  return [
    ...Reflect.ownKeys(value).flatMap((key) => [
      ...textsIn(key, `${path}, a key`),
      ...textsIn(propertyOf(value, key), `${path}.${String(key)}`, seen),
    ]),
    ...entries.flatMap((entry) => textsIn(entry, `${path}, an entry`, seen)),
    { path, text: textOf(value) },
  ];
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The text of a value such as a `URL`, which keeps it in no property. */
function textOf(value: object): string {
  try {
    return String(value);
  } catch {
    return '';
  }
}

function propertyOf(value: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
