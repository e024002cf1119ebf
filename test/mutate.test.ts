import { mutantsOf, sampleOf, stagesFor } from '@plant-store/mutate';
import { expect } from 'chai';

/** Returns the source with each of its changes. */
function changed(source: string): string[] {
  return mutantsOf(source).map(
    ({ start, end, text }) => source.slice(0, start) + text + source.slice(end),
  );
}

describe('A mutation run', () => {
  const changes: Record<string, string[]> = {
    'a < b': ['a <= b', 'a >= b'],
    'a === b': ['a !== b'],
    'a + b': ['a - b'],
    'a && b': ['a || b'],
    'a ?? b': ['a && b'],
    'a ??= b': ['a &&= b'],
    '!a': ['a'],
    'x = true': ['x = false'],
    'x = 1': ['x = 2'],
    'x = 1n': ['x = 2n'],
    "x = 'a'": ["x = ''"],
    "x = ''": ["x = 'changed'"],
    'x = `a`': ["x = ''"],
    'x = (a) => a': ['x = (a) => undefined'],
    'x = a ? b : c': ['x = true ? b : c', 'x = false ? b : c'],
    'if (a) b;': ['if (true) b;', 'if (false) b;'],
    'while (a) b;': ['while (false) b;'],
    'function f() { return a; }': ['function f() { return undefined; }'],
    'a();': [';'],
    'await a;': [';'],
    'void a;': [';'],
  };

  for (const [source, expected] of Object.entries(changes)) {
    it(`changes ${source}`, () => expect(changed(source)).to.deep.equal(expected));
  }

  for (const source of [
    "import a from 'a';",
    "export * from 'a';",
    "export { a } from 'a';",
    "x = import('a')",
    'class A extends B { constructor() { super(); } }',
    'x = () => undefined',
    'x = /a/',
  ]) {
    it(`does not change ${source}`, () => expect(changed(source)).to.deep.equal([]));
  }

  it('chooses the same sample for a seed, and another one for another seed', () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const sample = sampleOf(items, 10, 1);
    expect(sampleOf(items, 10, 1)).to.deep.equal(sample);
    expect(new Set(sample)).to.have.property('size', 10);
    expect(sampleOf(items, 10, 2)).not.to.deep.equal(sample);
    expect(sampleOf(items, 1000, 1)).to.have.members(items);
  });

  it('runs the tests of the same name first, then those of the package and those elsewhere', () => {
    const tests = ['a/a.test.js', 'b/a.test.js', 'b/c.d.test.js', 'b/c.test.js', 'b/cd.test.js'];
    const prefix = 'packages/x/dist/test/';
    const elsewhere = 'test/dist/service.test.js';
    const paths = [elsewhere, ...tests.map((test) => `${prefix}${test}`)];
    const stages = stagesFor('packages/x/dist/src/b/c.js', paths);
    expect(stages.map((stage) => stage.map((path) => path.replace(prefix, '')))).to.deep.equal([
      ['b/c.d.test.js', 'b/c.test.js'],
      ['b/a.test.js', 'b/cd.test.js', 'a/a.test.js'],
      [elsewhere],
    ]);
    const others = stagesFor('packages/x/dist/src/b/d.js', paths);
    expect(others.map((stage) => stage.length)).to.deep.equal([5, 1]);
  });
});
