import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settings } from '../../src/configuration/configuration.js';

const read = (page: string) =>
  readFileSync(new URL(`../../../../../docs/${page}`, import.meta.url), 'utf8');

/** The rows of the table as the page must have them, without what the variables mean. */
const rows = Object.entries(settings).map(
  ([name, { default: fallback }]) =>
    `\`${name}\` | ${fallback === undefined ? '–' : `\`${fallback}\``}`,
);

describe('docs/configuration.md', () => {
  it('has the same variables and defaults as the code, and what each variable means', () => {
    const page = read('configuration.md');
    const found = [...page.matchAll(/^\| (`[A-Z]\w+` \| [^|]+) \| [^|]+ \|$/gm)];
    expect(found.map(([, row]) => row)).to.have.members(rows);
  });
});

describe('docs/operations.md', () => {
  it('explains every line that is logged as an error', () => {
    const operations = read('operations.md');
    const folder = new URL('../../../src/', import.meta.url);
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const lines = [...source.join('').matchAll(/logger\.error\([^']*'([^']+)'\)/g)];
    expect(lines).not.to.have.length(0);
    for (const [, line] of lines) expect(operations).to.include(`\n- \`${line}\`: `);
  });
});
