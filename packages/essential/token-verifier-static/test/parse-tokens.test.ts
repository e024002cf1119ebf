import { PERMISSIONS } from '@plant-store/domain';
import {
  InvalidTokensError,
  parseTokensFile,
  parseTokensList,
  StaticTokenVerifier,
} from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import fc from 'fast-check';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof InvalidTokensError) return error.problems;
    throw error;
  }
  return [];
}

describe('A tokens file', () => {
  it('may contain comments, empty lines, a byte order mark, and repeated labels', () => {
    const text = `# ours\r\n\r\n \t\r\n${A}\t C#-client 2 # since May\r\n  # theirs\n  ${B} C#-client 2`;
    for (const file of [text, `\uFEFF${text}`, `\uFEFF${A} C#-client 2\n${B} C#-client 2\n`])
      expect(parseTokensFile(file)).to.deep.equal([
        { sha256: A, label: 'C#-client 2' },
        { sha256: B, label: 'C#-client 2' },
      ]);
  });

  it('may list the permissions of a token after its label', () => {
    const text = `${A} nursery\t[create plants ,read plants] # since May\n${B} a (b) <c>, d[ ]`;
    expect(parseTokensFile(text)).to.deep.equal([
      { sha256: A, label: 'nursery', permissions: ['create plants', 'read plants'] },
      { sha256: B, label: 'a (b) <c>, d', permissions: [] },
    ]);
  });

  const MISPLACED =
    'the label must not contain brackets or permission names: put permissions in one list in [ ] at the end of the line';
  const UNKNOWN = `each permission must be one of: ${PERMISSIONS.join(', ')}`;
  const refused: Record<string, readonly string[]> = {
    '': ['no tokens found'],
    [`${A} nursery [read plants`]: [`line 1: ${MISPLACED}`],
    [`# ours\n${A} nursery \uFF3B\uFF3D`]: [`line 2: ${MISPLACED}`],
    [`${A} nursery: Create  plants`]: [`line 1: ${MISPLACED}`],
    [`${A} nursery read-plants`]: [`line 1: ${MISPLACED}`],
    [`${A} nursery [Read plants]`]: [`line 1: ${UNKNOWN}`],
    [`${A} nursery [create plants, water plants]`]: [`line 1: ${UNKNOWN}`],
    [`${A} nursery\nsecret nursery\n\n${B}\n${A.toUpperCase()} again`]: [
      'line 2: the digest must be 64 hexadecimal digits',
      'line 4: the label must be 1 to 64 printable characters',
      'line 5: duplicate of the digest in line 1',
    ],
  };

  const shown = (text: string) => JSON.stringify(text.replaceAll(/([ab])\1{63}/gi, '$1…'));
  for (const [text, problems] of Object.entries(refused)) {
    it(`is refused with every problem and its line number: ${shown(text)}`, () => {
      expect(problemsOf(() => parseTokensFile(text))).to.deep.equal(problems);
    });
  }

  it('is never quoted by the errors that refuse it', () => {
    const word = fc.oneof(
      fc.constantFrom(A, B, '#', ' ', '\n', '\t', '[', ']', 'label', ...PERMISSIONS),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const problems = problemsOf(() => new StaticTokenVerifier(parseTokensFile(words.join(''))));
        const said =
          /^(no tokens found|line \d+: (the digest must be 64 hexadecimal digits|the label must be 1 to 64 printable characters|each permission must be one of: [a-z ,]+|the label must not contain [a-z ]+: put permissions in one list in \[ \] at the end of the line|duplicate of the digest in line \d+))$/;
        for (const problem of problems) expect(problem).to.match(said);
      }),
    );
  });

  it('grants no default permissions if a bracket or permission follows the label', () => {
    const word = fc.constantFrom('[', ']', '#', ' ', '\t', ',', 'label', ...PERMISSIONS);
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const line = `${A} label${words.join('')}`;
        let permissions: readonly string[] | undefined = [];
        const problems = problemsOf(() => {
          permissions = parseTokensFile(line)[0]?.permissions;
        });
        const [stated = ''] = line.split(/\s#/);
        const restricted = /[[\]]| plants/.test(stated);
        if (problems.length === 0) expect(permissions === undefined).to.equal(!restricted);
      }),
    );
  });
});

describe('A list of token digests', () => {
  it('separates digests by commas, and numbers the tokens as labels', () => {
    expect(parseTokensList(`${A}, ${B}`)).to.deep.equal([
      { sha256: A, label: 'token 1' },
      { sha256: B, label: 'token 2' },
    ]);
  });

  it('is refused with every problem and the number of its entry', () => {
    expect(problemsOf(() => parseTokensList(`${A},,secret,${A}`))).to.deep.equal([
      'token 2: the digest must be 64 hexadecimal digits',
      'token 3: the digest must be 64 hexadecimal digits',
      'token 4: duplicate of the digest in token 1',
    ]);
    expect(() => parseTokensList(''))
      .to.throw(InvalidTokensError, 'token 1: the digest must be 64 hexadecimal digits')
      .with.property('code', 'INVALID_TOKENS');
  });
});
