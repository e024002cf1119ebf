import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { openApiDescription } from '../../src/docs/openapi-description.js';
import { useEmbedding } from '../support/embedding.js';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The SHA-256 of the files of swagger-ui-dist 5.35.0. */
const SWAGGER_UI = {
  'swagger-ui-bundle.js': 'e6a898692f2d768e807c3ba4626068a69a2c5dd960dd6c76f3e4d3a3de180af2',
  'swagger-ui-bundle.js.LICENSE.txt':
    '37eb6e7e59aed57b2c1acf076574b818ea07b74265717e0bd67b59e0baf9abbb',
  'swagger-ui.css': '5ed08757e53da3e026d6cbecc61fe5d43585c9560b302d534ad56692519a273d',
};

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
  const embedding = useEmbedding();
  let origin: string;

  beforeEach(async () => {
    origin = (await embedding.start({ basePath: '/store', build })).url;
  });

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${origin}${path}`, { method, headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, fields: Object.fromEntries(response.headers), bytes };
  };

  it('serve the description in JSON and YAML, with the base path', async () => {
    const [json, yaml] = [await get('/openapi.json'), await get('/openapi.yaml')];
    const expected = JSON.parse(JSON.stringify(openApiDescription({ basePath: '/store', build })));
    expect(JSON.parse(`${json.bytes}`)).to.deep.equal(expected);
    expect(`${json.bytes}`).to.match(/^\{\n {2}"openapi": /);
    expect(parse(`${yaml.bytes}`)).to.deep.equal(expected);
    expect(`${yaml.bytes}`, 'an alias').not.to.match(/ [&*]a\d/);
  });

  for (const [path, type] of Object.entries(TYPES)) {
    it(`serve ${path} to GET and HEAD, with 304 if it is unchanged`, async () => {
      const { status, fields, bytes } = await get(path);
      expect(status).to.equal(200);
      expect(bytes).to.have.length.above(0);
      const own = { 'content-type': type, 'content-length': `${bytes.length}` };
      expect(fields).to.include({ ...FIELDS, ...own });

      const head = await get(path, {}, 'HEAD');
      expect([head.status, head.fields['content-length']]).to.deep.equal([200, `${bytes.length}`]);

      // Without this Cache-Control, fetch would request a full response.
      const again = { 'If-None-Match': fields.etag ?? '', 'Cache-Control': 'max-age=0' };
      const unchanged = await get(path, again);
      expect(unchanged.status).to.equal(304);
      expect(unchanged.fields).to.include({ ...FIELDS, etag: fields.etag });
    });
  }

  it('contain the files of Swagger UI as published', async () => {
    for (const [name, digest] of Object.entries(SWAGGER_UI)) {
      const copy = await readFile(new URL(`../../../static/swagger-ui/${name}`, import.meta.url));
      expect(createHash('sha256').update(copy).digest('hex'), name).to.equal(digest);
    }
  });
});
