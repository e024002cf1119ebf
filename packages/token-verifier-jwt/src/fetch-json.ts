const SIZE_LIMIT = 256 * 1024;

/** What was fetched, as it came and as it was understood. */
export interface JsonDocument {
  readonly text: string;
  readonly json: unknown;
}

/**
 * Fetches a JSON document of at most 256 KiB, without following redirects.
 *
 * Rejects with an `Error` that names the URL and what is wrong, or with the reason of the signal.
 */
export async function fetchJson(url: URL, signal: AbortSignal): Promise<JsonDocument> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'application/json, application/jwk-set+json' },
    signal,
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Error(`${url} cannot be reached`, { cause });
  });
  const bytes = await limitedBody(response, url);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, json: JSON.parse(text) };
  } catch {
    throw new Error(`${url} did not answer with JSON`);
  }
}

async function limitedBody(response: Response, url: URL): Promise<Uint8Array> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered with status ${response.status} instead of 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > SIZE_LIMIT) throw new Error(`${url} answered with more than ${SIZE_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
