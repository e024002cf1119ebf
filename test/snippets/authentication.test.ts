import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OidcIssuer, signingKey } from '@plant-store/oidc-issuer';
import { createPlant, freePort } from '@plant-store/service-process';
import { expect } from 'chai';
import { session, snippet, withReal } from './snippet.js';
import { Terminal } from './terminal.js';

const commandsIn = (block: string) => session(block).commands;

describe('The commands of docs/authentication.md', function () {
  this.timeout(30_000);
  let terminal: Terminal;
  let issuer: OidcIssuer;

  before(async () => {
    issuer = await OidcIssuer.start(await signingKey('first'));
  });
  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.close());
  after(() => issuer.stop());

  it('put plant-store on the path', async () => {
    const prepare = snippet('docs/authentication.md', '$ npm run build');
    const where = await terminal.run(`${commandsIn(prepare)}\ncommand -v plant-store`);
    expect(where).to.equal(`${realpathSync(terminal.folder)}/node_modules/.bin/plant-store\n`);
  });

  it('make a token that the service then accepts', async () => {
    const make = session(snippet('docs/authentication.md', '$ plant-store token'));
    const file = snippet('docs/authentication.md', '# tokens.txt');
    const serve = snippet('docs/authentication.md', '$ ACCESS_TOKENS_FILE');
    const printed = await terminal.run(make.commands);
    const [token = '', digest = ''] = printed.split('\n');
    const [, shownDigest = ''] = make.output.split('\n');
    expect(printed).to.match(/^plantstore_\S+\n[0-9a-f]{64}\n$/);
    expect(make.output).to.match(/^plantstore_\S+…\S+\n[0-9a-f]+…[0-9a-f]+$/);
    writeFileSync(join(terminal.folder, 'tokens.txt'), withReal(file, { [shownDigest]: digest }));
    const address = await terminal.serve(commandsIn(serve));
    expect((await createPlant(address, 1, 'Monstera', token)).status).to.equal(200);
    expect((await createPlant(address, 2, 'Monstera', 'demo')).status).to.equal(401);
  });

  it('make the service accept the tokens of an issuer', async () => {
    const serve = snippet('docs/authentication.md', '$ JWT_ISSUER=https://login.example');
    const real = { 'https://login.example/realms/garden': issuer.url };
    const address = await terminal.serve(commandsIn(withReal(serve, real)));
    expect((await createPlant(address, 1, 'Monstera', await issuer.token())).status).to.equal(200);
  });

  it('create a plant with the token of a provider on this machine', async () => {
    const serve = snippet('docs/authentication.md', '$ JWT_ISSUER=http://127.0.0.1:9000');
    const create = snippet('docs/authentication.md', '$ TOKEN=$(curl');
    const url = `127.0.0.1:${await freePort()}`;
    const at = { '127.0.0.1:9000': url };
    terminal.start(`node examples/oidc-provider.mjs http://${url}`);
    const metadata = `http://${url}/.well-known/openid-configuration`;
    await terminal.run(`until curl -sf ${metadata}; do :; done`);
    const address = await terminal.serve(commandsIn(withReal(serve, at)));
    const real = { ...at, 'http://127.0.0.1:3000': address };
    const printed = await terminal.run(commandsIn(withReal(create, real)));
    expect(printed).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"name":"Monstera"\}/m);
  });
});
