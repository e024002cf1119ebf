import { freePort } from '@plant-store/test-servers/loopback';
import { newDatabase } from '@plant-store/test-servers/mongod';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  postPlant,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { read } from '../../support/root.js';
import { session, snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

/** What a reader's terminal shows: a free port, and text for people. */
const SHOWN_TEXT = { PORT: '0', LOG_FORMAT: 'pretty' };
/** The address in the pages. */
const SHOWN = 'http://127.0.0.1:3000';

describe('The commands of the documents', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.stop());

  it('start the service, and run the tests: README.md', async () => {
    const commands = snippet('README.md', 'npm ci && npm start').trimEnd().split('\n');
    const [serve = '', test = '', ...others] = commands;
    const [create] = await terminal.start(serve, SHOWN_TEXT).printed(/^curl .*(?=\n)/m);
    expect(await terminal.run(create)).to.include('"name":"Monstera deliciosa"');
    await terminal.run(test);
    expect(others).to.deep.equal([]);
  });

  it('create a plant in the essential service: README.md', async () => {
    const program = 'packages/essential/app/dist/src/main.js';
    const service = terminal.start(`PORT=0 exec node ${program}`);
    const [url = ''] = await service.printed(/http:\S+/);
    const create = snippet('README.md', 'curl -sS http');
    const printed = await terminal.run(withReal(create, { [SHOWN]: url }));
    expect(printed).to.equal('{"name":"Monstera"}');
  });

  it('keep a plant in a database: README.md', async function () {
    const real = { 'mongodb://…': await newDatabase(this), 'npm start': 'plant-store' };
    const commands = withReal(snippet('README.md', 'MONGODB_URI='), real);
    const [create] = await terminal.start(commands, SHOWN_TEXT).printed(/^curl .*(?=\n)/m);
    expect(await terminal.run(create)).to.include('"name":"Monstera deliciosa"');
  });

  it('generate a token that the service accepts: docs/authentication.md', async () => {
    const make = session(snippet('docs/authentication.md', '$ npx plant-store token'));
    const file = snippet('docs/authentication.md', '# tokens.txt');
    const printed = await terminal.run(make.commands);
    const [token = '', digest = ''] = printed.split('\n');
    const [, shownDigest = ''] = make.output.split('\n');
    expect(printed).to.match(/^plantstore_\S+\n[0-9a-f]{64}\n$/);
    expect(make.output).to.match(/^plantstore_\S+…\S+\n[0-9a-f]+…[0-9a-f]+$/);
    terminal.write('tokens.txt', withReal(file, { [shownDigest]: digest }));
    const address = await terminal.serve('ACCESS_TOKENS_FILE=tokens.txt plant-store');
    expect((await createPlant(address, 1, 'Monstera', token)).status).to.equal(200);
    expect((await createPlant(address, 2, 'Monstera', 'demo')).status).to.equal(401);
  });

  it('create a plant with a signed token: examples/oidc-provider.mjs', async () => {
    const text = read('examples/oidc-provider.mjs');
    // In its comments, they are indented by three spaces.
    const blocks = text.match(/(?:^\/\/ {3}.*\n)+/gm) ?? [];
    const commands = blocks.map((block) => block.replaceAll(/^\/\/ {3}/gm, ''));
    const [provide = '', serve = '', create = ''] = commands;
    const url = `127.0.0.1:${await freePort()}`;
    const at = { '127.0.0.1:9000': url };
    terminal.start(`${provide.trim()} http://${url}`);
    const metadata = `http://${url}/.well-known/openid-configuration`;
    await terminal.run(`until curl -sf ${metadata}; do sleep 0.1; done`);
    const address = await terminal.serve(withReal(serve, at));
    const printed = await terminal.run(withReal(create, { ...at, [SHOWN]: address }));
    expect(printed).to.match(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"name":"Monstera"\}/m);
  });

  it('create plants with every digit of their ids: docs/clients.md, docs/errors.md', async () => {
    const address = await terminal.serve('plant-store', { ACCESS_TOKEN_SHA256 });
    const create = snippet('docs/clients.md', 'curl -sS http://127.0.0.1:3000/plants');
    const real = { [SHOWN]: address, '<ACCESS_TOKEN>': TOKEN };
    const plant = snippet('docs/clients.md', '{"name"');
    expect(`${await terminal.run(withReal(create, real))}\n`).to.equal(plant);

    const shown = JSON.parse(snippet('docs/errors.md', '{ "error"'));
    expect(await (await postPlant(address, '{"id":1}')).json()).to.deep.equal(shown);
  });
});
