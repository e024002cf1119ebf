import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { session, snippet, withReal } from './snippet.js';
import { Terminal } from './terminal.js';

const LOCAL = 'http://127.0.0.1:3000';

describe('The commands of the README', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.close());

  const start = snippet('README.md', 'npm ci && npm start');
  const withToken = snippet('README.md', 'ACCESS_TOKEN_SHA256=');
  const create = snippet('README.md', 'curl -sS');
  const plant = snippet('README.md', '{"name"');

  it('start the service, and run the tests', async () => {
    const [serve = '', test = '', ...others] = start.trimEnd().split('\n');
    const service = terminal.start(serve, { PORT: '0' });
    const [line] = await service.printed(/^curl .*(?=\n)/m);
    expect(`${await terminal.run(line)}\n`).to.equal(plant);
    await terminal.run(test);
    expect(others).to.deep.equal([]);
  });

  it('create the plant that it shows, with the token that it shows', async () => {
    const address = await terminal.serve(withToken);
    expect(`${await terminal.run(withReal(create, { [LOCAL]: address }))}\n`).to.equal(plant);
  });

  it('are those of the package, too', async () => {
    const commands = snippet('packages/app/README.md', 'npx plant-store');
    const [serve = '', help = ''] = commands.trimEnd().split('\n');
    expect(await terminal.serve(serve)).to.match(/^http:/);
    expect(await terminal.run(help)).to.match(/^Usage: plant-store/);
  });
});

describe('A page', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.close());

  it('shows the problems of a configuration: docs/configuration.md', async () => {
    const { commands, output } = session(snippet('docs/configuration.md', '$ PORT=70000'));
    const command = terminal.start(commands);
    expect(await command.ended).to.equal(2);
    expect(command.stdout()).to.equal(`${output}\n`);
  });

  it('shows the response to a plant without a name: docs/errors.md', async () => {
    const address = await terminal.serve('plant-store', { ACCESS_TOKEN_SHA256 });
    const response = await fetch(`${address}/plants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: '{"id":1}',
    });
    const shown = JSON.parse(snippet('docs/errors.md', '{ "error"'));
    expect(await response.json()).to.deep.equal(shown);
  });
});
