import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { parse } from 'yaml';
import { interfaceDescription } from '../../src/docs/interface-description.js';
import { listeningApp } from '../support/listening-app.js';

const { readFile, readdir } = files;
const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Every path, and its media type. */
const TYPES = {
  '/docs': HTML,
  '/docs/': HTML,
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

const build = { version: '2.4.0-dev+abc1234', commit: 'abc1234d' };

describe('The docs', () => {
  let app: Awaited<ReturnType<typeof listeningApp>>;

  before(async () => {
    app = await listeningApp({ basePath: '/store', build });
  });
  afterEach(() => readWith(readFile));
  after(() => app.close());

  it('serve the description in JSON and YAML, with the base path', async () => {
    const json = await fetch(`${app.origin}/openapi.json`);
    const yaml = await (await fetch(`${app.origin}/openapi.yaml`)).text();
    const expected = JSON.parse(JSON.stringify(interfaceDescription('/store', build)));
    const text = await json.text();
    expect(JSON.parse(text)).to.deep.equal(expected);
    expect(text).to.match(/^\{\n {2}"openapi": /);
    expect(parse(yaml)).to.deep.equal(expected);
    expect(yaml, 'an alias').not.to.match(/ [&*]a\d/);
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

  it('have the files of Swagger UI as they were published', async () => {
    const copies = new URL('../../../static/swagger-ui/', import.meta.url);
    const published = import.meta.resolve('swagger-ui-dist/package.json');
    for (const name of await readdir(copies)) {
      const isSame = (await readFile(new URL(name, copies))).equals(
        await readFile(new URL(name, published)),
      );
      expect(isSame, `${name}: copy it from swagger-ui-dist to static/swagger-ui`).to.equal(true);
    }
  });

  it('are read again after reading has failed', async () => {
    await app.close();
    app = await listeningApp({});
    const status = async () => (await fetch(`${app.origin}/docs/docs.css`)).status;
    readWith(() => Promise.reject(new Error('too many open files')));
    expect(await status()).to.equal(500);
    readWith(readFile);
    expect(await status()).to.equal(200);
  });
});

/** Replaces the function with which the service reads its files. */
function readWith(read: (path: URL) => Promise<Buffer>): void {
  Object.assign(files, { readFile: read });
  syncBuiltinESMExports();
}
