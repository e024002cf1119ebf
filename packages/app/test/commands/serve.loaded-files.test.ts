import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';

/** Packages that only other configurations need, and the separate files of Inversify. */
const NOT_LOADED = /\/node_modules\/(?:inversify|@inversifyjs|mongodb|jose|prom-client|yaml)\//;

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

  it('loads few files, and Inversify as one file, to start fast', async () => {
    const files = await loadedFiles();
    expect(files.filter((file) => file.endsWith('/vendor/inversify.js'))).to.have.length(1);
    expect(files.filter((file) => NOT_LOADED.test(file))).to.deep.equal([]);
    expect(files).to.have.lengthOf.below(300);
  });
});

describe('packages/app/vendor/inversify.js', () => {
  it('is built from the installed version, and has its licence', () => {
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
