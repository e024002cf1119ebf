import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { fetchJson } from '../src/fetch-json.js';

const url = new URL('https://issuer.example/keys');
const { signal } = new AbortController();
const { fetch } = globalThis;

/** Has `fetch` respond like this. */
function respondWith(response: (request: RequestInit) => Response): void {
  Object.assign(globalThis, { fetch: async (_: URL, init: RequestInit) => response(init) });
}

/** Has `fetch` fail as it does when there is no connection. */
function failWith(cause: Error): void {
  Object.assign(globalThis, {
    fetch: () => Promise.reject(new TypeError('fetch failed', { cause })),
  });
}

describe('A JSON document', () => {
  afterEach(() => Object.assign(globalThis, { fetch }));

  it('is returned as text and as JSON', async () => {
    const keys = ' {"keys":[]} ';
    respondWith(({ headers, redirect }) => {
      expect(redirect, 'redirects are not followed').to.equal('manual');
      return new Response(/jwk-set/.test(JSON.stringify(headers)) ? keys : '');
    });
    const expected = { text: keys, json: { keys: [] } };
    expect(await fetchJson(url, signal)).to.deep.equal(expected);
  });

  for (const code of [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  ]) {
    it(`cannot be fetched from a server whose certificate is not trusted: ${code}`, async () => {
      failWith(Object.assign(new Error('in the words of OpenSSL'), { code }));
      await rejects(fetchJson(url, signal), {
        message: 'https://issuer.example/keys did not give a JSON document',
        cause: new Error(
          'the certificate of the server is not trusted: NODE_EXTRA_CA_CERTS must name the certificate of its authority',
        ),
      });
    });
  }

  it('that cannot be fetched has the cause of `fetch failed` as its cause', async () => {
    const cause = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    failWith(cause);
    await rejects(fetchJson(url, signal), { cause });
  });

  it('that is not UTF-8 has the reason as its cause', async () => {
    respondWith(() => new Response(Buffer.from([0x22, 0xff, 0x22])));
    await rejects(fetchJson(url, signal), ({ cause }) => cause instanceof TypeError);
  });

  it('is not read when the status is not 200', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      cancel() {
        cancelled = true;
      },
    });
    respondWith(() => new Response(body, { status: 302 }));
    await rejects(fetchJson(url, signal), {
      cause: new Error('the status is 302 instead of 200'),
    });
    expect(cancelled).to.equal(true);
  });

  it('has at most 256 KiB', async () => {
    const largest = `"${'x'.repeat(256 * 1024 - 2)}"`;
    respondWith(() => new Response(largest));
    expect((await fetchJson(url, signal)).text).to.equal(largest);
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1024)) });
    for (const tooLarge of [`${largest} `, endless]) {
      respondWith(() => new Response(tooLarge));
      await rejects(fetchJson(url, signal), {
        cause: new Error('the response is larger than 262144 bytes'),
      });
    }
  });
});
