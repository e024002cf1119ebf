import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/programs';
import { createPlant } from '@plant-store/service-process';
import { expect } from 'chai';
import { root } from '../../root.js';
import { session, snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

describe('The commands of docs/authentication.md', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.close());

  it('make a token that the service then accepts', async () => {
    const make = session(snippet('docs/authentication.md', '$ plant-store token'));
    const file = snippet('docs/authentication.md', '# tokens.txt');
    const printed = await terminal.run(make.commands);
    const [token = '', digest = ''] = printed.split('\n');
    const [, shownDigest = ''] = make.output.split('\n');
    expect(printed).to.match(/^plantstore_\S+\n[0-9a-f]{64}\n$/);
    expect(make.output).to.match(/^plantstore_\S+…\S+\n[0-9a-f]+…[0-9a-f]+$/);
    writeFileSync(join(terminal.folder, 'tokens.txt'), withReal(file, { [shownDigest]: digest }));
    const address = await terminal.serve('ACCESS_TOKENS_FILE=tokens.txt plant-store');
    expect((await createPlant(address, 1, 'Monstera', token)).status).to.equal(200);
    expect((await createPlant(address, 2, 'Monstera', 'demo')).status).to.equal(401);
  });

  it('of examples/oidc-provider.mjs create a plant with a signed token', async () => {
    const [provide = '', serve = '', create = ''] = commandsOf('examples/oidc-provider.mjs');
    const url = `127.0.0.1:${await freePort()}`;
    const at = { '127.0.0.1:9000': url };
    terminal.start(`${provide.trim()} http://${url}`);
    const metadata = `http://${url}/.well-known/openid-configuration`;
    await terminal.run(`until curl -sf ${metadata}; do sleep 0.1; done`);
    const address = await terminal.serve(withReal(serve, at));
    const real = { ...at, 'http://127.0.0.1:3000': address };
    const printed = await terminal.run(withReal(create, real));
    expect(printed).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"name":"Monstera"\}/m);
  });
});

/** Returns the commands in the comments of an example, which are indented by three spaces. */
function commandsOf(file: string): string[] {
  const blocks = readFileSync(join(root, file), 'utf8').match(/(?:^\/\/ {3}.*\n)+/gm) ?? [];
  return blocks.map((block) => block.replaceAll(/^\/\/ {3}/gm, ''));
}
