import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT, OidcIssuer, signingKey } from '@plant-store/oidc-issuer';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

/** In Node.js 20, `JSON.rawJSON` needs a flag. */
const NODE = 'rawJSON' in JSON ? 'node' : 'node --harmony-json-parse-with-source';
const ID = 9007199254740993n;

describe('The snippets of docs/clients.md and docs/errors.md', function () {
  this.timeout(30_000);
  let terminal: Terminal;
  let address: string;

  before(async () => {
    terminal = Terminal.atRoot();
    address = await terminal.serve('plant-store', { ACCESS_TOKEN_SHA256 });
  });
  after(() => terminal.close());

  /** Runs a module, and resolves with its output. */
  function runModule(text: string): Promise<string> {
    writeFileSync(join(terminal.folder, 'snippet.mjs'), text);
    return terminal.run(`${NODE} snippet.mjs`);
  }

  it('get a token from an issuer', async () => {
    const issuer = await OidcIssuer.start(await signingKey('first'));
    const getToken = snippet('docs/clients.md', 'curl -sS https://login.example');
    const here = withReal(getToken, { 'https://login.example': issuer.url });
    const credentials = { CLIENT_ID: CLIENT.id, CLIENT_SECRET: CLIENT.secret };
    const response = JSON.parse(await terminal.run(here, credentials));
    expect(response).to.include.keys('access_token', 'expires_in');
    await issuer.stop();
  });

  it('create the plant that the page shows', async () => {
    const create = snippet('docs/clients.md', 'curl -sS http://127.0.0.1:3000/plants');
    const real = { 'http://127.0.0.1:3000': address, '<ACCESS_TOKEN>': TOKEN };
    const plant = snippet('docs/clients.md', '{"name"');
    expect(`${await terminal.run(withReal(create, real))}\n`).to.equal(plant);
  });

  it('write every digit of an id', async () => {
    const template = snippet('docs/clients.md', 'const body = `');
    const given = `const id = ${ID}n; const name = 'Monstera deliciosa';`;
    expect(await runModule(`${given}\n${template}process.stdout.write(body);`)).to.equal(
      '{"id":9007199254740993,"name":"Monstera deliciosa"}',
    );
  });

  it('create a plant with fetch', async () => {
    const create = snippet('docs/clients.md', 'const response = await fetch(');
    const here = withReal(create, { 'https://plants.example.com': address });
    const given = `const id = ${ID + 1n}n; const name = 'Ficus'; const token = '${TOKEN}';`;
    const status = 'process.stdout.write(String(response.status));';
    expect(await runModule(`${given}\n${here}${status}`)).to.equal('200');
  });

  it('show the response to a plant without a name', async () => {
    const response = await fetch(`${address}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: '{"id":1}',
    });
    const shown = JSON.parse(snippet('docs/errors.md', '{ "error"'));
    expect(await response.json()).to.deep.equal(shown);
  });
});
