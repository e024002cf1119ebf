import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFiles, violations } from '../architecture.js';
import type { Markdown } from '../markdown.js';
import { root } from '../root.js';
import { followed, tutorials } from '../tutorial.js';

/** The existing source files that a tutorial for an adapter changes. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  'add-a-storage-adapter': ['packages/app/src/configuration/storages.ts'],
  'add-an-adapter-with-a-server': [],
};

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

describe('A tutorial, followed alone', () => {
  for (const [name, page] of tutorials) {
    it(`follows the architecture, and changes nothing when it is followed a second time: ${name}`, () => {
      const files = followed(page, textOf);
      const sources = [...files].filter(([file]) => file.startsWith('packages/'));
      expect(violations(new Map([...packageFiles(root), ...sources]))).to.deep.equal([]);
      expect(followed(page, (file) => files.get(file) ?? '')).to.deep.equal(files);
    });
  }

  for (const [name, expected] of Object.entries(CHANGED)) {
    it(`changes no other source than the one that knows the adapters: ${name}`, () => {
      const { blocks } = tutorials.get(name) as Markdown;
      const changed = blocks
        .filter(({ language }) => language === 'diff')
        .map(({ file = '' }) => file)
        .filter((file) => /^packages\/[\w-]+\/(?:src|test)\/.*\.ts$/.test(file));
      expect(changed).to.deep.equal(expected);
    });
  }

  it('changes no file when it is only read', () => {
    const page = tutorials.get('add-an-adapter-with-a-server') as Markdown;
    expect([...followed(page, textOf).keys()]).to.deep.equal([]);
  });
});
