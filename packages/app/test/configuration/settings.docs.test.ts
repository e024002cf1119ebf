import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settings } from '../../src/configuration/settings.js';

const page = readFileSync(new URL('../../../../../docs/configuration.md', import.meta.url), 'utf8');

/** The table as the page must have it. To renew it, paste what the failing test expects. */
function table(): string[] {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const fallback = setting.default === undefined ? '–' : `\`${setting.default}\``;
    const accepted = name === 'STORAGE' ? 'the name of a storage' : acceptedBy(setting);
    return `| \`${name}\` | ${fallback} | ${setting.meaning} | ${accepted} |`;
  });
  return ['| variable | default | meaning | accepted |', '|---|---|---|---|', ...rows];
}

/** A default is an example already, and so is a list of all values. */
function acceptedBy({ expected, example, default: fallback }: (typeof settings)[string]): string {
  if (fallback !== undefined || expected.includes(example)) return expected;
  return `${expected}, for example \`${example.replaceAll('`', '')}\``;
}

describe('docs/configuration.md', () => {
  it('has the same table as the code', () => {
    const found = page.split('\n').filter((line) => /^\| (variable|`[A-Z])/.test(line));
    const [header, , ...rows] = table();
    expect(found).to.have.members([header, ...rows]);
  });

  it('names only variables that exist', () => {
    const names = [...page.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)/g)].map(([, name]) => name);
    const aliases = Object.values(settings).flatMap((it) => it.aliases ?? []);
    expect([...Object.keys(settings), ...aliases, 'MONGO_URI']).to.include.members(names);
  });
});

describe('docs/operations.md', () => {
  it('explains every line that is logged as an error', () => {
    const operations = readFileSync(
      new URL('../../../../../docs/operations.md', import.meta.url),
      'utf8',
    );
    const folder = new URL('../../../src/', import.meta.url);
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const lines = [...source.join('').matchAll(/logger\.error\([^']*'([^']+)'\)/g)];
    expect(lines).not.to.have.length(0);
    for (const [, line] of lines) expect(operations).to.include(`| \`error\` | \`${line}\` |`);
  });
});
