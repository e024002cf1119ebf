/** What an issuer knows about a token. */
export interface Introspection {
  readonly active: boolean;
  /** The client that the token was issued to: short and printable, for log lines. */
  readonly name: string;
  readonly audiences: readonly unknown[];
  readonly scopes: readonly string[];
}

const PRINTABLE = /^[\x20-\x7E]{1,128}$/;

/**
 * Reads a response of the introspection endpoint. Source: RFC 7662 section 2.2.
 *
 * @throws {TypeError} when it is no such response. Then nothing is known about the token.
 */
export function readIntrospection(text: string): Introspection {
  const json = parsed(text);
  if (typeof json !== 'object' || json === null || !('active' in json)) {
    throw new TypeError('the response is not an introspection response');
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

/** Without the error of `JSON.parse` as a cause: it quotes the text, which may repeat the token. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError('the response is not JSON');
  }
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && PRINTABLE.test(value);
}
