import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';

/** Loaded only by a configuration that asks for them, and Inversify as one file. */
const NOT_LOADED = /\/node_modules\/(?:inversify|@inversifyjs|mongodb|jose|prom-client|yaml)\//;

/** The files that the service loads to start in memory: V8 writes their names at exit. */
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

  it('loads few files, because each takes time: Inversify is one', async () => {
    const files = await loadedFiles();
    expect(files.filter((file) => file.endsWith('/vendor/inversify.js'))).to.have.length(1);
    expect(files.filter((file) => NOT_LOADED.test(file))).to.deep.equal([]);
    expect(files).to.have.lengthOf.below(300);
  });
});

describe('packages/app/vendor/inversify.js', () => {
  it('is made of the installed version, and has its licence', () => {
    const made = readFileSync(new URL('../../../vendor/inversify.js', import.meta.url), 'utf8');
    const installed = (file: string) =>
      readFileSync(
        new URL(`../../../../../node_modules/inversify/${file}`, import.meta.url),
        'utf8',
      );
    const { version } = JSON.parse(installed('package.json'));
    expect(made).to.include(`/*\nInversify ${version}\n\n${installed('LICENSE')}*/`);
  });
});
