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
  it('has a digest and a label on each line', () => {
    expect(parseTokensFile(`${A} nursery\n${B} greenhouse 2\n`)).to.deep.equal([
      { sha256: A, label: 'nursery' },
      { sha256: B, label: 'greenhouse 2' },
    ]);
  });

  it('may have comments, empty lines, tabs, a byte order mark and any end of line', () => {
    const text = `\uFEFF# ours\r\n\r\n \t\r\n${A}\t nursery # since May\r\n  # theirs\n  ${B} C#-client`;
    expect(parseTokensFile(text)).to.deep.equal([
      { sha256: A, label: 'nursery' },
      { sha256: B, label: 'C#-client' },
    ]);
  });

  it('may have several digests with one label', () => {
    expect(parseTokensFile(`${A} nursery\n${B} nursery`)).to.have.length(2);
  });

  it('may name the permissions of a token after its label', () => {
    const lines = [`${A} nursery [create plants]`, `${B} a [b] c[ ]`];
    expect(parseTokensFile(lines.join('\n'))).to.deep.equal([
      { sha256: A, label: 'nursery', permissions: ['create plants'] },
      { sha256: B, label: 'a [b] c', permissions: [] },
    ]);
  });

  it('is refused when it names another permission, without repeating it', () => {
    const text = `${A} nursery [create plants, water plants]`;
    expect(problemsOf(() => parseTokensFile(text))).to.deep.equal([
      `line 1: the permissions must be some of: ${PERMISSIONS.join(', ')}`,
    ]);
  });

  it('is refused with every problem and its line number', () => {
    const lines = ['# ours', `${A} nursery`, 'secret nursery', '', B, `${A.toUpperCase()} again`];
    expect(problemsOf(() => parseTokensFile(lines.join('\n')))).to.deep.equal([
      'line 3: the digest must be 64 hexadecimal digits',
      'line 5: the label must be 1 to 64 printable characters',
      'line 6: the same digest as in line 2',
    ]);
  });

  for (const text of ['', '\n', '# no token\n']) {
    it(`is refused when it holds no token: ${JSON.stringify(text)}`, () => {
      expect(problemsOf(() => parseTokensFile(text))).to.deep.equal(['there is no token']);
    });
  }

  it('is refused without repeating its text unless a verifier can be made from it', () => {
    const word = fc.oneof(
      fc.constantFrom(A, B, '#', ' ', '\n', '\t', '[', ']', 'label'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const problems = problemsOf(() => new StaticTokenVerifier(parseTokensFile(words.join(''))));
        const said =
          /^(there is no token|line \d+: (the digest must be 64 hexadecimal digits|the label must be 1 to 64 printable characters|the permissions must be some of: [a-z ,]+|the same digest as in line \d+))$/;
        for (const problem of problems) expect(problem).to.match(said);
      }),
    );
  });
});

describe('A list of token digests', () => {
  it('is separated by commas, and labels the tokens by their numbers', () => {
    expect(parseTokensList(`${A}, ${B}`)).to.deep.equal([
      { sha256: A, label: 'token 1' },
      { sha256: B, label: 'token 2' },
    ]);
  });

  it('is refused with every problem and the number of its entry', () => {
    expect(problemsOf(() => parseTokensList(`${A},,secret,${A}`))).to.deep.equal([
      'token 2: the digest must be 64 hexadecimal digits',
      'token 3: the digest must be 64 hexadecimal digits',
      'token 4: the same digest as in token 1',
    ]);
  });

  it('is refused when it is empty', () => {
    expect(problemsOf(() => parseTokensList(''))).to.have.length(1);
  });

  it('is refused with an error that has a name, a code and every problem in its message', () => {
    const error = new InvalidTokensError(['a', 'b']);
    expect(error).to.include({ name: 'InvalidTokensError', code: 'INVALID_TOKENS' });
    expect(error.message).to.equal('a; b');
  });
});
