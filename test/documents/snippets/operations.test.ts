import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { findChecker } from '../../deploy/support/checkers.js';
import { snippet } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

describe('The commands of docs/operations.md', function () {
  this.timeout(30_000);

  it('make the secret of each overlay, and apply it', async function () {
    findChecker(this, 'kubectl');
    const terminal = Terminal.atRoot();
    writeFileSync(join(terminal.folder, 'tokens.txt'), 'the tokens\n');
    const commands = snippet('docs/operations.md', '# Known tokens');
    const [known = '', issued = ''] = commands.split('\n\n');
    writeFileSync(join(terminal.folder, 'mongodb-uri.txt'), 'mongodb://node1.example\n');
    const mongodb = { 'mongodb-uri': btoa('mongodb://node1.example\n') };
    expect(await applied(terminal, known)).to.deep.equal({
      ...mongodb,
      tokens: btoa('the tokens\n'),
    });
    expect(await applied(terminal, issued)).to.deep.equal(mongodb);
    await terminal.close();
  });
});

/** Runs commands that create a secret and apply an overlay. Resolves with the secret. */
async function applied(terminal: Terminal, commands: string) {
  const printed = await terminal.run(commands.replace(/^(?=kubectl apply)/m, 'echo ---\n'));
  const resources = parseAllDocuments(printed).map((document) => document.toJS());
  const kinds = resources.map(({ kind }) => kind);
  expect(kinds).to.include.members(['Secret', 'Deployment', 'Service']);
  return resources.find(({ kind }) => kind === 'Secret').data;
}
