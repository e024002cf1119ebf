import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';

/** Packages that only other configurations need. */
const NOT_NEEDED = /\/node_modules\/(?:mongodb|pg|jose|prom-client|yaml)\//;

/** Resolves with the files that a service in memory loads, which V8 writes at exit. */
async function loadedFiles(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-loaded-'));
  const service = await serve({ ACCESS_TOKEN_SHA256, NODE_V8_COVERAGE: folder });
  await service.stop();
  const [report = ''] = readdirSync(folder);
  const { result }: { result: { url: string }[] } = JSON.parse(
    readFileSync(join(folder, report), 'utf8'),
  );
  rmSync(folder, { recursive: true });
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
}

describe('A start in memory', () => {
  afterEach(endAll);

  it('loads only what its configuration needs', async () => {
    const files = await loadedFiles();
    expect(files.some((file) => file.includes('/node_modules/koa/'))).to.equal(true);
    expect(files.filter((file) => NOT_NEEDED.test(file))).to.deep.equal([]);
  });
});
