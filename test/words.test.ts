import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { filesBelow, readDocuments } from './markdown.js';
import { replacedWords, textsOf } from './words.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** This file has the words, too. */
const CONTROL = 'test/words.test.ts';

describe('The words of the field', () => {
  it('are used in the documents', () => {
    const found = readDocuments(root).flatMap(({ path, prose }) => replacedWords(path, prose));
    expect(found).to.deep.equal([]);
  });

  it('are used in comments, test titles and messages', () => {
    const sources = filesBelow(root)
      .filter((file) => /\.[cm]?[jt]s$/.test(file))
      .map((file) => relative(root, file));
    expect(sources).to.include.members(['packages/domain/src/plant.ts', 'tools/start.js', CONTROL]);
    const found = sources
      .filter((path) => path !== CONTROL)
      .flatMap((path) => replacedWords(path, textsOf(readFileSync(join(root, path), 'utf8'))));
    expect(found).to.deep.equal([]);
  });
});

describe('The check of words', () => {
  it('finds replaced words', () => {
    const text = `Answers, answered, told, tells, stands for, behind it, Faulty, nobody, somebody,
      whoever, mended, rights, at the\nmost, fail-overs, processor time, for ever`;
    expect(replacedWords('page.md', text)).to.have.length(16);
    expect(replacedWords('page.md', 'One line\nTwo answers')).to.deep.equal([
      'page.md:2 "answers": response, responds',
    ]);
  });

  it('finds no replaced words in code, in the targets of links, or in other words', () => {
    const text = 'behind a proxy `answer\nrights` [recommended](answer.md) failover at most mostly';
    expect(replacedWords('page.md', text)).to.deep.equal([]);
  });

  const wordsIn = (...lines: string[]) =>
    replacedWords('a.ts', textsOf(lines.join('\n'))).map((it) => it.split('"', 1)[0]);

  for (const [what, ...lines] of [
    ['a doc comment', '/**', ' * Limits an answer.', ' */'],
    ['a comment over two lines', '', '/** The connection is kept for', ' * ever. */'],
    ['a comment at the end of a line', '', 'f(/["\'`]/, 1 / 2); // answers'],
    ['a title', '', "it('answers at once', () => {});"],
    ['a template with a value', '', `it(\`answers \${what} at once\`, () => {});`],
    ['a message in double quotes', '', 'throw new Error("nobody\'s answer, x");'],
  ] as const) {
    it(`finds them in ${what} of TypeScript`, () => {
      expect(wordsIn(...lines)).to.include('a.ts:2 ');
    });
  }

  it('finds none in names, values and regular expressions of TypeScript', () => {
    const names = ["const answer = 'answer';", 'tell(/an answer/);', "import './answers.js';"];
    expect(wordsIn(...names)).to.deep.equal([]);
  });
});
