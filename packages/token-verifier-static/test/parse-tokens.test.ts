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
    const [other] = parseTokensFile(`\uFEFF${B} marked`);
    expect(other).to.deep.equal({ sha256: B, label: 'marked' });
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
    const text = `${A} nursery\t[create plants ,read plants] # since May\n${B} a (b) <c>, d[ ]`;
    expect(parseTokensFile(text)).to.deep.equal([
      { sha256: A, label: 'nursery', permissions: ['create plants', 'read plants'] },
      { sha256: B, label: 'a (b) <c>, d', permissions: [] },
    ]);
  });

  for (const rest of [
    'nursery [read plants',
    'nursery \uFF3B\uFF3D',
    'nursery {}',
    'nursery: Create  plants',
    'nursery read-plants',
    'nursery CreatePlants',
  ]) {
    it(`is refused when permissions could be meant elsewhere than in a list: ${rest}`, () => {
      expect(problemsOf(() => parseTokensFile(`# ours\n${A} ${rest}`))).to.deep.equal([
        'line 2: the label must contain no square or curly bracket and no name of a permission: permissions are one list in [ ] at the end of the line',
      ]);
    });
  }

  for (const list of ['Read plants', 'create plants, water plants']) {
    it(`is refused when its list has anything but permissions: [${list}]`, () => {
      expect(problemsOf(() => parseTokensFile(`${A} nursery [${list}]`))).to.deep.equal([
        `line 1: the permissions must be some of: ${PERMISSIONS.join(', ')}`,
      ]);
    });
  }

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
      fc.constantFrom(A, B, '#', ' ', '\n', '\t', '[', ']', 'label', ...PERMISSIONS),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const problems = problemsOf(() => new StaticTokenVerifier(parseTokensFile(words.join(''))));
        const said =
          /^(there is no token|line \d+: (the digest must be 64 hexadecimal digits|the label must be 1 to 64 printable characters|the permissions must be some of: [a-z ,]+|the label must contain no [a-z ]+: permissions are one list in \[ \] at the end of the line|the same digest as in line \d+))$/;
        for (const problem of problems) expect(problem).to.match(said);
      }),
    );
  });

  it('gives all permissions to no token after whose label there is a bracket or a permission', () => {
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
