const MAX_BYTES = 256 * 1024;

/** Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const NOT_TRUSTED =
  'the certificate of the server is not trusted: NODE_EXTRA_CA_CERTS must name the certificate of its authority';

/**
 * Fetches a JSON document of at most 256 KiB, without following redirects. Resolves with its text and its value.
 *
 * Rejects with an `Error` that names the URL and has the cause, which is the signal's reason after an abort.
 */
export async function fetchJson(url: URL, signal: AbortSignal) {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  try {
    const response = await fetch(url, { redirect: 'manual', headers, signal });
    const bytes = await limitedBody(response);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, json: JSON.parse(text) as unknown };
  } catch (cause) {
    const reason = signal.aborted ? signal.reason : networkReason(cause);
    throw new Error(`${url} did not give a JSON document`, { cause: reason });
  }
}

/** The reason of a network error, which `fetch` wraps in an error with the message "fetch failed". */
function networkReason(error: unknown): unknown {
  const reason = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
  return UNTRUSTED.has(code) ? new Error(NOT_TRUSTED) : reason;
}

async function limitedBody({ status, body }: Response): Promise<Uint8Array> {
  if (status !== 200) {
    await body?.cancel();
    throw new Error(`the status is ${status} instead of 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
