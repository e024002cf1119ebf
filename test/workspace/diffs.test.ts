import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../root.js';
import { followed, tutorials } from '../tutorial.js';

describe('A tutorial, followed alone', () => {
  for (const [name, page] of tutorials) {
    it(`fits the sources, and changes nothing when it is followed a second time: ${name}`, () => {
      const files = followed(page, (file) => readFileSync(join(root, file), 'utf8'));
      expect(followed(page, (file) => files.get(file) ?? '')).to.deep.equal(files);
      expect(files.size).to.be.greaterThan(0);
    });
  }
});
