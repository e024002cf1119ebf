import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import { allowOnly } from '@plant-store/http-koa';
import type { Middleware } from 'koa';
import { type DescriptionOptions, openApiDescription } from './openapi-description.js';

/** Forbids requests to other origins, and all code except the files listed below. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

type Source = () => string | Buffer | Promise<string | Buffer>;

/** Adds the OpenAPI description and the docs pages. Each is read or made at its first request. */
export function addDocs(router: Router, options: DescriptionOptions): void {
  const description = () => openApiDescription(options);
  const documents = {
    '/openapi.json': document(JSON_TYPE, () => JSON.stringify(description(), null, 2)),
    '/openapi.yaml': document('application/yaml', () => toYaml(description())),
    '/docs': document(HTML, page('./', options)),
    '/docs/': document(HTML, page('../', options)),
    '/docs/docs.css': document(CSS, () => staticFile('docs.css')),
    '/docs/docs.js': document(SCRIPT, () => staticFile('docs.js')),
    '/docs/plant.svg': document('image/svg+xml', () => staticFile('plant.svg')),
    '/docs/swagger-ui.css': document(CSS, () => staticFile('swagger-ui/swagger-ui.css')),
    '/docs/swagger-ui-bundle.js': document(SCRIPT, () =>
      staticFile('swagger-ui/swagger-ui-bundle.js'),
    ),
  };
  for (const [path, serve] of Object.entries(documents)) {
    router.get(path, serve);
    allowOnly(router, path, 'HEAD', 'GET');
  }
}

/** Shows the docs page to browsers that open the root. Other methods have no such path. */
export function addHome(router: Router, options: DescriptionOptions): void {
  router.get('/', document(HTML, page('./', options)));
}

/** Returns the docs page. Its references are relative, because a proxy may serve all this below a path that it strips. */
function page(root: './' | '../', { basePath = '' }: DescriptionOptions): Source {
  return async () =>
    `${await staticFile('docs.html')}`.replace('{base_path}', basePath).replaceAll('{root}', root);
}

/** Resolves with a value as YAML 1.2. */
async function toYaml(value: object): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false });
}

const NOT_READ =
  'the files of the docs page cannot be read. A bundle does not contain them: set the option `docs` to false there';

async function staticFile(name: string): Promise<Buffer> {
  try {
    // In a bundle, `import.meta.dirname` is another folder, or undefined.
    return await readFile(join(import.meta.dirname, '../../../static', name));
  } catch (cause) {
    throw new Error(NOT_READ, { cause });
  }
}

function document(type: string, source: Source): Middleware {
  let made: { readonly bytes: Buffer; readonly etag: string } | undefined;
  return async (ctx) => {
    made ??= withTag(Buffer.from(await source()));
    ctx.set(HEADERS);
    ctx.set('ETag', made.etag);
    // `ctx.fresh` compares the request with these.
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    ctx.type = type;
    ctx.body = made.bytes;
  };
}

function withTag(bytes: Buffer) {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
