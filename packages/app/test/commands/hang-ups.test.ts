import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, endAll, run, sha256 } from '@plant-store/service-process';
import { expect } from 'chai';

describe('A SIGHUP while the service starts', function () {
  this.timeout(20_000);
  let folder: string;
  let tokens: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
    tokens = join(folder, 'tokens');
    execFileSync('mkfifo', [tokens]);
  });

  afterEach(async () => {
    endAll();
    await rm(folder, { recursive: true });
  });

  /** Resolves when the service opens the tokens file. */
  const readingTokens = () => open(tokens, 'w');

  it('does not end it, and makes it read the tokens again', async () => {
    const newTokens = join(folder, 'new-tokens');
    await writeFile(newTokens, `${ACCESS_TOKEN_SHA256} a-client\n${sha256('another')} another\n`);
    const service = run(['serve'], { PORT: '0', ACCESS_TOKENS_FILE: tokens });
    const first = await readingTokens();
    await rename(newTokens, tokens);
    service.child.kill('SIGHUP');
    await first.writeFile(`${ACCESS_TOKEN_SHA256} a-client\n`);
    await first.close();
    const [line] = await service.printed(/^.*read again.*\n/m);
    expect(JSON.parse(line)).to.include({ tokens: 2 });
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
  });
});
