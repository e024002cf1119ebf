import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settings } from '../../src/configuration/settings.js';

const page = readFileSync(new URL('../../../../../docs/configuration.md', import.meta.url), 'utf8');

/** The rows of the table as the page must have them, without what the variables mean. */
function rows(): string[] {
  return Object.entries(settings).map(([name, setting]) => {
    const fallback = setting.default === undefined ? '–' : `\`${setting.default}\``;
    const accepted = name === 'STORAGE' ? 'the name of a storage' : acceptedBy(setting);
    return `\`${name}\` | ${fallback} | ${accepted}`;
  });
}

/** A default is an example already, and so is a list of all values. The page says once that numbers are whole. */
function acceptedBy(setting: (typeof settings)[string]): string {
  const { example, default: fallback } = setting;
  const expected = setting.expected.replace(/^a whole number from /, '');
  if (fallback !== undefined || expected.includes(example)) return expected;
  return `${expected}, for example \`${example.replaceAll('`', '')}\``;
}

describe('docs/configuration.md', () => {
  it('has the same variables, defaults and rules as the code, and what each variable means', () => {
    const row = /^\| (`[A-Z]\w+` \| [^|]+) \| [^|]+ \| (.+) \|$/gm;
    const found = [...page.matchAll(row)].map(([, start, accepted]) => `${start} | ${accepted}`);
    expect(found).to.have.members(rows());
  });

  it('names only variables that exist', () => {
    const names = [...page.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)/g)].map(([, name]) => name);
    expect([...Object.keys(settings), 'MONGO_URI']).to.include.members(names);
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
