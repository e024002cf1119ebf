import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { fetchJson } from '../src/fetch-json.js';

const url = new URL('https://issuer.example/keys');
const { signal } = new AbortController();
const { fetch } = globalThis;

/** Has `fetch` respond like this. */
function respondWith(response: (request: RequestInit) => Response | Promise<Response>): void {
  Object.assign(globalThis, { fetch: async (_: URL, init: RequestInit) => response(init) });
}

/** Has `fetch` fail as it does when there is no connection. */
function failWith(cause: Error): void {
  respondWith(() => Promise.reject(new TypeError('fetch failed', { cause })));
}

const expectCause = (cause: unknown) =>
  rejects(fetchJson(url, signal), {
    message: 'https://issuer.example/keys did not give a JSON document',
    cause,
  });

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
      const advice = 'NODE_EXTRA_CA_CERTS must name the certificate of its authority';
      await expectCause(new Error(`the certificate of the server is not trusted: ${advice}`));
    });
  }

  it('that cannot be fetched has the reason as its cause, also when it is not UTF-8', async () => {
    const cause = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    failWith(cause);
    await expectCause(cause);
    respondWith(() => new Response(Buffer.from([0x22, 0xff, 0x22])));
    await rejects(fetchJson(url, signal), ({ cause }) => cause instanceof TypeError);
  });

  it('is not read when the status is not 200', async () => {
    let cancelled = false;
    const cancel = () => {
      cancelled = true;
    };
    respondWith(() => new Response(new ReadableStream({ cancel }), { status: 302 }));
    await expectCause(new Error('the status is 302 instead of 200'));
    expect(cancelled).to.equal(true);
  });

  it('has at most 256 KiB', async () => {
    const largest = `"${'x'.repeat(256 * 1024 - 2)}"`;
    respondWith(() => new Response(largest));
    expect((await fetchJson(url, signal)).text).to.equal(largest);
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1024)) });
    for (const tooLarge of [`${largest} `, endless]) {
      respondWith(() => new Response(tooLarge));
      await expectCause(new Error('the response is larger than 262144 bytes'));
    }
  });
});
