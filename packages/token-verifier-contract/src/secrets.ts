import { createHash } from 'node:crypto';
import { expect } from 'chai';

/** So many characters of a token in a row are a part of it. */
export const PART = 8;

const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

/** A secret, also as it is encoded on its way, and its digests. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const digests = ['sha256', 'sha512', 'sha1', 'md5'].map((algorithm) =>
    createHash(algorithm).update(bytes).digest(),
  );
  const encoded = [bytes, ...digests].flatMap((it) => ENCODINGS.map((name) => it.toString(name)));
  const inForm = new URLSearchParams({ secret }).toString().slice('secret='.length);
  return [secret, encodeURIComponent(secret.toWellFormed()), inForm, ...encoded];
}

/** A token, each part of it, and its digests. */
export function secretsOf(token: string): string[] {
  const parts = Array.from({ length: Math.max(0, token.length - PART + 1) }, (_, start) =>
    token.slice(start, start + PART),
  );
  return [...parts, ...formsOf(token)];
}

/** Fails when a secret is anywhere in a value: in its text, its causes, its hidden properties, its bytes. */
export function expectNoSecret(value: unknown, secrets: readonly string[]): void {
  const text = textsIn(value).join('\n');
  const found = secrets.findIndex((secret) => text.includes(secret));
  expect(found, `a secret was found in: ${text}`).to.equal(-1);
}

/** Every string that can be reached from a value. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'symbol') return [value.description ?? ''];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (ArrayBuffer.isView(value)) return [bytesOf(value).toString('latin1')];
  const entries = value instanceof Map || value instanceof Set ? [...value] : [];
  const properties = Reflect.ownKeys(value).flatMap((key) => [key, propertyOf(value, key)]);
  return [textOf(value), ...[...entries, ...properties].flatMap((it) => textsIn(it, seen))];
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Such as that of a `URL`, which is no property. */
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
