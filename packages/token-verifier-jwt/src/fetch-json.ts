const SIZE_LIMIT = 256 * 1024;

/** What was fetched, as it came and as it was understood. */
export interface JsonDocument {
  readonly text: string;
  readonly json: unknown;
}

/**
 * Fetches a JSON document of at most 256 KiB, without following redirects.
 *
 * Rejects with an `Error` that names the URL and has the cause, or with the reason of the signal.
 */
export async function fetchJson(url: URL, signal: AbortSignal): Promise<JsonDocument> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  try {
    const response = await fetch(url, { redirect: 'manual', headers, signal });
    const bytes = await limitedBody(response);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, json: JSON.parse(text) };
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`${url} did not give a JSON document`, { cause: reasonOf(cause) });
  }
}

/** What `fetch` wraps in the words "fetch failed". */
function reasonOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause !== undefined ? error.cause : error;
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
    if (size > SIZE_LIMIT) throw new Error(`the answer is larger than ${SIZE_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
