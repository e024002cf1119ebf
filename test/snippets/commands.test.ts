import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { session, snippet, withReal } from './snippet.js';
import { Terminal } from './terminal.js';

describe('The commands of the README', function () {
  this.timeout(30_000);

  it('start the service, and run the tests', async () => {
    const terminal = Terminal.atRoot();
    try {
      const commands = snippet('README.md', 'npm ci && npm start').trimEnd().split('\n');
      const [serve = '', test = '', ...others] = commands;
      const [create] = await terminal.start(serve, { PORT: '0' }).printed(/^curl .*(?=\n)/m);
      expect(await terminal.run(create)).to.include('"name":"Monstera deliciosa"');
      await terminal.run(test);
      expect(others).to.deep.equal([]);
    } finally {
      await terminal.close();
    }
  });

  it('create the plant that it shows, with the token that it shows', async () => {
    const terminal = Terminal.atRoot();
    try {
      const address = await terminal.serve(snippet('README.md', 'ACCESS_TOKEN_SHA256='));
      const create = snippet('README.md', 'curl -sS');
      const created = await terminal.run(withReal(create, { 'http://127.0.0.1:3000': address }));
      expect(`${created}\n`).to.equal(snippet('README.md', '{"name"'));
    } finally {
      await terminal.close();
    }
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
