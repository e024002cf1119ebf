import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { findChecker } from '../../deploy/support/checkers.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

const NUMBER = /\d+$/;
const ID = '9007199254740993';
/** More lines than an import reads ahead. */
const LINES = 5000;

describe('The commands of docs/files.md for an import', function () {
  this.timeout(30_000);
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
    terminal.write('token', TOKEN);
  });
  afterEach(() => terminal.close());

  const run = snippet(
    'docs/files.md',
    'ACCESS_TOKEN_FILE=token plant-store import plants.ndjson >',
  );
  const line = snippet('docs/files.md', '{"id"');

  it('import a file, and show what was not stored', async function () {
    findChecker(this, 'jq');
    const invalid = snippet('docs/files.md', '{"line":2');
    const { text } = JSON.parse(invalid);
    terminal.write('plants.ndjson', `${line}${text}\n${line}`);
    const imported = terminal.start(run, { STORAGE: 'memory', ACCESS_TOKEN_SHA256 });
    expect(await imported.ended, imported.stdout()).to.equal(1);
    expect(terminal.read('rejects.ndjson')).to.include(invalid);
    await terminal.run(snippet('docs/files.md', "jq -r 'select(.error !="));
    expect(terminal.read('corrected.ndjson')).to.equal(`${text}\n`);
  });

  it('resume an import that was stopped', async () => {
    const shown = snippet('docs/files.md', 'plant-store: import: stopped');
    const lines = Array.from({ length: LINES }, (_, at) => withReal(line, { [ID]: `${at}` }));
    await terminal.run('mkfifo plants.ndjson');
    const memory = { STORAGE: 'memory', ACCESS_TOKEN_SHA256 };
    const imported = terminal.start(run, memory);
    const file = createWriteStream(join(terminal.folder, 'plants.ndjson'));
    file.write(lines.join(''));
    await imported.printed(/\| --from-line \d+/);
    const { pid = 0 } = imported.child;
    process.kill(-pid, 'SIGINT');
    await imported.printed(/waiting for what is in progress/);
    file.destroy();
    await imported.ended;
    const [stopped = ''] = /^plant-store: import: .*$/m.exec(imported.stdout()) ?? [];
    const expected = shown.split('\n')[0] ?? '';
    expect(stopped.replace(NUMBER, '')).to.equal(expected.replace(NUMBER, ''));
    const resume = snippet(
      'docs/files.md',
      'ACCESS_TOKEN_FILE=token plant-store import plants.ndjson --',
    );
    const [number = ''] = NUMBER.exec(stopped) ?? [];
    await terminal.run('rm plants.ndjson');
    terminal.write('plants.ndjson', lines.join('') + line);
    await terminal.run(withReal(resume, { 412401: number }), memory);
  });
});
