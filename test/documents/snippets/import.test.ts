import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { findChecker } from '../../deploy/support/checkers.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

const NUMBER = /\d+$/;
const ID = '9007199254740993';
/** More lines than an import reads ahead. */
const LINES = 5000;

describe('The commands of docs/import.md', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
    terminal.write('token', TOKEN);
  });
  afterEach(() => terminal.close());

  const run = snippet('docs/import.md', 'ACCESS_TOKEN_FILE=');
  const line = snippet('docs/import.md', '{"id"');

  it('import a file, and show what was not stored', async function () {
    findChecker(this, 'jq');
    const invalid = snippet('docs/import.md', '{"line":2');
    const { text } = JSON.parse(invalid);
    terminal.write('plants.ndjson', `${line}${text}\n${line}`);
    const imported = terminal.start(run, { STORAGE: 'memory', ACCESS_TOKEN_SHA256 });
    expect(await imported.ended, imported.stdout()).to.equal(1);
    expect(terminal.read('rejects.ndjson')).to.include(invalid);
    await terminal.run(snippet('docs/import.md', "jq -r 'select(.error !="));
    expect(terminal.read('corrected.ndjson')).to.equal(`${text}\n`);
    await terminal.run(snippet('docs/import.md', "jq -r 'select(.error =="));
    expect(terminal.read('taken.ndjson')).to.equal(line);
  });

  it('resume an import that was stopped', async () => {
    const shown = snippet('docs/import.md', 'To resume:');
    const unreachable = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
    const lines = Array.from({ length: LINES }, (_, at) => withReal(line, { [ID]: `${at}` }));
    terminal.write('plants.ndjson', lines.join(''));
    const imported = terminal.start(run, { ...unreachable, ACCESS_TOKEN_SHA256 });
    await imported.printed(/not reachable/);
    const { pid = 0 } = imported.child;
    process.kill(-pid, 'SIGINT');
    await imported.printed(/waiting for the plants in progress/);
    await terminal.stop('SIGINT');
    const [resume = ''] = /^To resume: .*$/m.exec(imported.stdout()) ?? [];
    const withoutNumber = shown.trimEnd().replace(NUMBER, '');
    expect(resume.replace(NUMBER, ''), imported.stdout()).to.equal(withoutNumber);
    const again = { STORAGE: 'memory', ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 };
    await terminal.run(resume.replace('To resume: ', ''), again);
  });
});
