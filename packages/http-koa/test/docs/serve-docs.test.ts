import { once } from 'node:events';
import files from 'node:fs/promises';
import { get } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { parse } from 'yaml';
import { interfaceDescription } from '../../src/docs/interface-description.js';
import { listeningApp } from '../listening-app.js';

const { readFile } = files;
const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Every path, and its media type. */
const TYPES = {
  '/docs': HTML,
  '/docs/': HTML,
  '/docs/errors': HTML,
  '/docs/docs.css': CSS,
  '/docs/docs.js': JAVASCRIPT,
  '/docs/plant.svg': 'image/svg+xml',
  '/docs/swagger-ui.css': CSS,
  '/docs/swagger-ui-bundle.js': JAVASCRIPT,
  '/openapi.json': 'application/json; charset=utf-8',
  '/openapi.yaml': 'application/yaml',
};

const FIELDS = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

describe('The docs', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;

  beforeEach(async () => {
    app = await listeningApp({ basePath: '/store' });
  });

  afterEach(async () => {
    readWith(readFile);
    await app.close();
  });

  it('serve the description in JSON and YAML, with the base path', async () => {
    const json = await fetch(`${app.origin}/openapi.json`);
    const yaml = await fetch(`${app.origin}/openapi.yaml`);
    const expected = JSON.parse(JSON.stringify(interfaceDescription('/store')));
    const text = await json.text();
    expect(JSON.parse(text)).to.deep.equal(expected);
    expect(text).to.match(/^\{\n {2}"openapi": /);
    expect(parse(await yaml.text())).to.deep.equal(expected);
  });

  for (const [path, type] of Object.entries(TYPES)) {
    it(`serve ${path} to GET and HEAD, with 304 when the client has it`, async () => {
      const got = await fetch(`${app.origin}${path}`);
      const bytes = Buffer.from(await got.arrayBuffer());
      const headers = Object.fromEntries(got.headers);
      expect(got.status).to.equal(200);
      expect(bytes).to.have.length.above(0);
      expect(headers['content-length']).to.equal(`${bytes.length}`);
      expect(headers).to.include({ ...FIELDS, 'content-type': type });

      const head = await fetch(`${app.origin}${path}`, { method: 'HEAD' });
      expect(head.status).to.equal(200);
      expect(head.headers.get('content-length')).to.equal(`${bytes.length}`);

      const again = await fetch(`${app.origin}${path}`, {
        // Without this Cache-Control, fetch would request a full response.
        headers: { 'If-None-Match': headers.etag ?? '', 'Cache-Control': 'max-age=0' },
      });
      expect(again.status).to.equal(304);
      expect(Object.fromEntries(again.headers)).to.include({ ...FIELDS, etag: headers.etag });
    });
  }

  it('are read once for concurrent first requests', async () => {
    let reads = 0;
    readWith((path) => {
      reads += 1;
      return readFile(path);
    });
    const asked = Array.from({ length: 20 }, async () => {
      const response = await fetch(`${app.origin}/docs/swagger-ui-bundle.js`);
      expect(response.status).to.equal(200);
      await response.arrayBuffer();
    });
    await Promise.all(asked);
    expect(reads).to.equal(1);
  });

  it('are read again after reading has failed', async () => {
    const status = async () => (await fetch(`${app.origin}/docs/docs.css`)).status;
    readWith(() => Promise.reject(new Error('too many open files')));
    expect(await status()).to.equal(500);
    readWith(readFile);
    expect(await status()).to.equal(200);
  });

  it('serve no other file, however its name is written', async () => {
    const paths = [
      '/docs/swagger-ui.js',
      '/docs/../package.json',
      '/docs/%2e%2e/package.json',
      '/docs//docs.css',
      '/docs/docs.css/',
      '/docs/DOCS.css',
      '/docs/..%2fpackage.json',
      '/openapi.json/',
      '/openapi',
    ];
    for (const path of paths) expect(await statusOf(app.port, path), path).to.equal(404);
  });

  it('refuse other methods, and name the allowed ones', async () => {
    const response = await fetch(`${app.origin}/docs`, { method: 'POST', body: 'x' });
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('HEAD, GET');
    expect(await response.json()).to.have.property('error', 4050);
  });

  it('are not found when they are disabled', async () => {
    await app.close();
    app = await listeningApp({ docs: false });
    for (const path of Object.keys(TYPES)) {
      const response = await fetch(`${app.origin}${path}`);
      expect(response.status, path).to.equal(404);
      expect(await response.json(), path).to.have.property('error', 4040);
    }
  });
});

/** Requests the path exactly as it is written; `fetch` would resolve its dots. */
async function statusOf(port: number, path: string): Promise<number | undefined> {
  const [response] = await once(get({ port, path, host: '127.0.0.1', agent: false }), 'response');
  response.resume();
  return response.statusCode;
}

/** Replaces the function with which the service reads its files. */
function readWith(read: (path: URL) => Promise<Buffer>): void {
  Object.assign(files, { readFile: read });
  syncBuiltinESMExports();
}
