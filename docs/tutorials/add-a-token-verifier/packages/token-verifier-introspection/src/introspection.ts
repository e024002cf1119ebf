/** What an issuer says about a token. */
export interface Introspection {
  readonly active: boolean;
  /** Who the token was given to, fit for a log line. */
  readonly name: string;
  readonly audiences: readonly unknown[];
  readonly scopes: readonly string[];
}

const PRINTABLE = /^[\x20-\x7E]{1,128}$/;

/**
 * Reads an answer of the introspection endpoint. Source: RFC 7662 section 2.2.
 *
 * @throws {TypeError} when it is not such an answer, and so says nothing about the token.
 */
export function readIntrospection(json: unknown): Introspection {
  if (typeof json !== 'object' || json === null || !('active' in json)) {
    throw new TypeError('the answer is not an introspection response');
  }
  const { active, sub, client_id, aud, scope } = json as Record<string, unknown>;
  if (typeof active !== 'boolean') throw new TypeError('active is not a boolean');
  return {
    active,
    name: [sub, client_id].find(isPrintable) ?? 'unnamed client',
    audiences: Array.isArray(aud) ? aud : [aud],
    scopes: typeof scope === 'string' ? scope.split(' ') : [],
  };
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value);
}
