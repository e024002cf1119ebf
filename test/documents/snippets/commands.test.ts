import { expect } from 'chai';
import { session, snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

describe('The commands of a page', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
  });
  afterEach(() => terminal.close());

  it('start the service, and run the tests: README.md', async () => {
    const commands = snippet('README.md', 'npm ci && npm start').trimEnd().split('\n');
    const [serve = '', test = '', ...others] = commands;
    const [create] = await terminal.start(serve, { PORT: '0' }).printed(/^curl .*(?=\n)/m);
    expect(await terminal.run(create)).to.include('"name":"Monstera deliciosa"');
    await terminal.run(test);
    expect(others).to.deep.equal([]);
  });

  it('create the plant that it shows, with the token that it shows: README.md', async () => {
    const address = await terminal.serve(snippet('README.md', 'ACCESS_TOKEN_SHA256='));
    const create = snippet('README.md', 'curl -sS');
    const created = await terminal.run(withReal(create, { 'http://127.0.0.1:3000': address }));
    expect(`${created}\n`).to.equal(snippet('README.md', '{"name"'));
  });

  it('show the problems of a configuration: docs/configuration.md', async () => {
    const { commands, output } = session(snippet('docs/configuration.md', '$ PORT=70000'));
    const command = terminal.start(commands);
    expect(await command.ended).to.equal(2);
    expect(command.stdout()).to.equal(`${output}\n`);
  });
});
