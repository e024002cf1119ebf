/**
 * Parses a URL from which keys may be fetched: https, or http on the loopback interface, without a user, a
 * password or a fragment. Returns `undefined` for any other text.
 */
export function trustedUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe && url.username === '' && url.password === '' && url.hash === '' ? url : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
